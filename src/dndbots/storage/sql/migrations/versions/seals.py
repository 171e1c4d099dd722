"""How far the log of a branch goes, with a checksum of it. It comes with the next event that is recorded."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("branches", sa.Column("seal", sa.Text(), server_default="", nullable=False))
