"""Add the seal of a branch: its last event and a checksum. The next recorded event sets it."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("branches", sa.Column("seal", sa.Text(), server_default="", nullable=False))
