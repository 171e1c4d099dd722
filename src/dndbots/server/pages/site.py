"""Shared parts of all pages: templates, the seat that a request is for, and its checks."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, wraps
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from dndbots.ids import DM
from dndbots.server.security.access import Access, access_of, read_form
from dndbots.server.tables.served_campaigns import ServedCampaign, ServedCampaigns

# The same answer for a seat that does not exist and for one that is not yours.
CLOSED: Final = "This seat is not open to you. Open the link that you were given for it."

# The pages of a seat, in the order of the menu; the last ones are the DM's alone.
MENU: Final = {
    "play": "Play",
    "xray": "X-ray",
    "memory": "Memory",
    "people": "People",
    "timeline": "Timeline",
    "recall": "Recall",
}
DM_MENU: Final = {"compare": "Compare", "table": "Table"}


@dataclass(frozen=True, slots=True)
class SeatRequest:
    """A request for a page of one seat, which its sender may see."""

    request: Request
    served: ServedCampaign
    seat: str
    access: Access

    @property
    def is_dm(self) -> bool:
        return self.seat == DM

    @property
    def base(self) -> str:
        """The address of this seat's pages."""
        return f"/c/{self.served.name}/{self.seat}"

    def render(self, template: str, *, page: str, status: int = 200, **context: Any) -> HTMLResponse:
        """Render a template for this seat."""
        story = self.served.story(self.seat)
        may_direct = self.access.is_dm_of(self.served.key)
        name = "DM" if self.is_dm else story.table.name(self.seat)
        return render(
            template,
            status=status,
            access=self.access,
            seat=self.seat,
            seat_name=name,
            campaign=self.served,
            base=self.base,
            page=page,
            menu={**MENU, **(DM_MENU if self.is_dm else {})},
            is_dm=self.is_dm,
            other_seats={DM: "DM", **self.served.seats()} if may_direct else {},
            **context,
        )


def campaigns_of(request: Request) -> ServedCampaigns:
    """Return the campaigns of the application that a request came to."""
    served: ServedCampaigns = request.app.state.campaigns
    return served


def enter_seat(request: Request) -> SeatRequest:
    """Return the seat that a request is for. Raises 403 unless one of its tokens opens that seat."""
    campaigns = campaigns_of(request)
    name, seat = request.path_params["campaign"], request.path_params["seat"]
    access = access_of(request, campaigns.book)
    key = campaigns.key_of(name)
    # A main campaign's DM is the DM on all of its branches.
    root = campaigns.key_of(name.partition("~")[0])
    if key is None or not (access.opens(key, seat) or (root is not None and access.is_dm_of(root))):
        if access.is_owner:
            raise HTTPException(404, "There is no such campaign here.")
        raise HTTPException(403, CLOSED)
    served = campaigns.get(name)
    if not served.has_seat(seat):
        raise HTTPException(404 if access.is_dm_of(key) else 403, CLOSED)
    return SeatRequest(request, served, seat, access)


def only_dm(request: Request) -> SeatRequest:
    """Return the DM's seat of a request. Raises 403 for anybody else."""
    entered = enter_seat(request)
    if not entered.is_dm:
        raise HTTPException(403, CLOSED)
    return entered


def only_owner(request: Request) -> Access:
    """Return the rights of a request by the server's owner. Raises 403 for anybody else."""
    access = access_of(request, campaigns_of(request).book)
    if not access.is_owner:
        raise HTTPException(403, "Only the owner of this server can do this.")
    return access


Handler = Callable[[SeatRequest, Mapping[str, Any]], Response]


def posted(
    handler: Handler, *, enter: Callable[[Request], SeatRequest] = enter_seat
) -> Callable[[Request], Awaitable[Response]]:
    """Make an endpoint of a function that gets the seat and the checked form."""

    @wraps(handler)
    async def endpoint(request: Request) -> Response:
        entered = await run_in_threadpool(enter, request)
        async with read_form(request, entered.access) as form:
            return await run_in_threadpool(handler, entered, form)

    return endpoint


def text_field(form: Mapping[str, Any], name: str, *, longest: int = 4_000) -> str:
    """Return a text of a form, without surrounding blanks. Raises 400 if it is too long or not a text."""
    value = form.get(name, "")
    if not isinstance(value, str) or len(value) > longest:
        raise HTTPException(400, f"{name}: write at most {longest} characters.")
    return value.strip()


def render(template: str, *, access: Access | None = None, status: int = 200, **context: Any) -> HTMLResponse:
    """Render a template as a response. Every text in it is escaped."""
    form_token = access.form_token if access is not None else ""
    text = templates().get_template(template).render(form_token=form_token, access=access, **context)
    return HTMLResponse(text, status)


def render_part(template: str, **context: Any) -> str:
    """Render a part of a page."""
    return templates().get_template(template).render(**context)


@lru_cache(maxsize=1)
def templates() -> Environment:
    """Return the templates, with every text escaped."""
    environment = Environment(
        loader=PackageLoader("dndbots.server"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals["static"] = static_address
    return environment


@lru_cache(maxsize=64)
def static_address(name: str) -> str:
    """Return the address of a static file. It changes with the content, so browsers may keep the file."""
    content = files("dndbots.server").joinpath("static", *name.split("/")).read_bytes()
    return f"/static/{name}?v={sha256(content).hexdigest()[:12]}"
