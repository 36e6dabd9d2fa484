"""The setup screen: endpoint, key, model, a live test, and the choice is kept; arrows, Enter and typing do it all."""

from typing import Literal

import msgspec

from smith_core.embedded.catalog import EmbeddedModel
from smith_core.embedded.label import EMBEDDED_PREFIX, FILE_PREFIX, label_of
from smith_core.embedded.progress import BytesMoved, InstallEvent, SourceFailed, SourceStarted, WaitingForInstaller
from smith_core.endpoints import LocalEndpoint, Preset
from smith_core.errors import AgentFailure
from smith_tui.install_progress import progress_line
from smith_tui.screens.question import QuestionScreen
from smith_tui.setup import (
    Connection,
    Setup,
    address_problem,
    completed_address,
    variable_problem,
    variable_state,
)
from smith_tui.setup_pages import (
    ADDRESS_PAGE,
    FILE_PAGE,
    UNSAVED_PAGE,
    Choice,
    embedded_page,
    failed_page,
    key_page,
    model_page,
    not_installed_page,
    source_page,
)


class SetupResult(msgspec.Struct, frozen=True, kw_only=True):
    """How the screen was left, and when something was saved, the model and what the person should know."""

    kind: Literal["skipped", "saved", "tour"]
    model: str = ""
    message: str = ""


SKIPPED = SetupResult(kind="skipped")


class FirstStartScreen(QuestionScreen[SetupResult]):
    """Asks where the model is, which one, and where its key is; tries it out, and keeps the choice."""

    def __init__(self, setup: Setup) -> None:
        super().__init__("Setup", SKIPPED)
        self._setup = setup
        self._connection = Connection()
        self._examples: tuple[str, ...] = ()
        self._key_is_optional = False

    def on_mount(self) -> None:
        """Begin with the first question."""
        self._ask_source()

    # Where

    def _ask_source(self) -> None:
        self._connection = Connection()
        self.ways_back = []
        self.ask(source_page((), is_looking=True), self._source_chosen)
        self.start_work(self._look_for_endpoints())

    async def _look_for_endpoints(self) -> None:
        found = await self._setup.local_endpoints()
        self.ask_again(source_page(found, is_looking=False), self._source_chosen)

    def _source_chosen(self, choice: Choice) -> None:
        self.ways_back.append(self._ask_source)
        match choice:
            case Preset(api_url=api_url, key_variable=variable, models=examples):
                self._examples, self._key_is_optional = examples, False
                self._connection = Connection(api_url=api_url, key_variable=variable)
                self._ask_key()
            case LocalEndpoint(api_url=api_url, models=examples, needs_key=needs_key):
                self._examples, self._key_is_optional = examples, not needs_key
                self._connection = Connection(api_url=api_url)
                if needs_key:
                    self._ask_key()
                else:
                    self._ask_model()
            case "custom":
                self._examples, self._key_is_optional = (), True
                self._ask_address()
            case "embedded":
                self._ask_embedded()
            case "file":
                self._ask_file()
            case _:
                self.dismiss(SetupResult(kind="tour"))

    def _ask_address(self) -> None:
        # Who comes back has most often mistyped a letter of it.
        self.ask(msgspec.structs.replace(ADDRESS_PAGE, entry=self._connection.api_url or ""), self._address_typed)

    def _address_typed(self, choice: Choice) -> None:
        address = completed_address(str(choice).strip())
        problem = address_problem(address)
        if problem:
            self.note(problem, "warning")
            return
        self.ways_back.append(self._ask_address)
        self._connection = Connection(api_url=address)
        self._ask_key()

    def _ask_file(self) -> None:
        self.ask(FILE_PAGE, self._file_typed)

    def _file_typed(self, choice: Choice) -> None:
        path = str(choice).strip()
        if not path:
            self.note("Type the path of a GGUF file.", "warning")
            return
        self.ways_back.append(self._ask_file)
        self._connection = Connection(model=f"{FILE_PREFIX}{path}")
        self._try_out()

    def _ask_embedded(self) -> None:
        from smith_core.embedded.runtime.machine import machine_problem

        problem = machine_problem()
        self.ask(embedded_page(problem.message if problem else ""), self._embedded_chosen)

    def _embedded_chosen(self, choice: Choice) -> None:
        if isinstance(choice, EmbeddedModel):
            self.ways_back.append(self._ask_embedded)
            self._connection = Connection(model=f"{EMBEDDED_PREFIX}{choice.name}")
            self.show_work(f"Fetching {choice.label}", choice.limits, self._install(choice))

    async def _install(self, model: EmbeddedModel) -> None:
        try:
            await self._setup.install(model, self._show_progress, self.token)
        except AgentFailure as caught:
            if caught.error.kind == "cancelled":
                return
            self.ask(not_installed_page(model), self._after_failure)
            self.note(caught.error.message, "error")
            return
        self._try_out()

    def _show_progress(self, event: InstallEvent) -> None:
        match event:
            case BytesMoved():
                self.note(progress_line(event))
            case SourceStarted(label=label):
                self.note(f"from {label}")
            case SourceFailed(error=error):
                self.note(f"{error.message}; trying the next source", "warning")
            case WaitingForInstaller():
                self.note("another process is installing this model; waiting for it")

    # Key and model

    def _ask_key(self) -> None:
        self.ask(key_page(self._connection.key_variable, is_optional=self._key_is_optional), self._key_typed)

    def _key_typed(self, choice: Choice) -> None:
        variable = str(choice).strip()
        if variable or not self._key_is_optional:
            problem = variable_problem(variable, self._setup.environ)
            if problem:
                self.forget_typed()
                self.note(problem, "warning")
                return
        self.ways_back.append(self._ask_key)
        self._connection = msgspec.structs.replace(self._connection, key_variable=variable)
        self._ask_model()

    def _ask_model(self) -> None:
        variable = self._connection.key_variable
        hint = variable_state(variable, self._setup.environ) if variable else ""
        self.ask(model_page(self._examples, hint=hint), self._model_chosen)
        if self._connection.api_url and self._setup.has_key(self._connection):
            self.note("Asking the endpoint for its models …")
            self.start_work(self._list_models(hint))

    async def _list_models(self, hint: str) -> None:
        try:
            models = await self._setup.list_models(self._connection)
        except AgentFailure as caught:
            self.note(f"It did not list its models: {caught.error.message}", "warning")
            return
        self.ask_again(model_page(models or self._examples, hint=hint), self._model_chosen)
        if not models:
            self.note("It lists no models; type the id of one.")

    def _model_chosen(self, choice: Choice) -> None:
        model = str(choice).strip()
        if not model:
            self.note("Type the id of a model.", "warning")
            return
        self.ways_back.append(self._ask_model)
        self._connection = msgspec.structs.replace(self._connection, model=model)
        if self._setup.has_key(self._connection):
            self._try_out()
        else:
            self.start_work(self._keep())

    # The test, and the end

    def _try_out(self) -> None:
        self.show_work(f"Asking {self._model_name} …", "One tiny request, to see that it works.", self._test())

    async def _test(self) -> None:
        try:
            await self._setup.try_out(self._connection)
        except AgentFailure as caught:
            self.ask(failed_page(self._model_name), self._after_failure)
            self.note(caught.error.message, "error")
            return
        await self._keep()

    def _after_failure(self, choice: Choice) -> None:
        match choice:
            case "again":
                self._try_out()
            case "back":
                self.action_back()
            case "keep":
                self.start_work(self._keep())
            case _:
                self._ask_source()

    async def _keep(self) -> None:
        try:
            await self._setup.save(self._connection)
        except AgentFailure as caught:
            self.ask(UNSAVED_PAGE, self._after_unsaved)
            self.note(caught.error.message, "error")
            return
        message = f"{self._model_name} is your model from now on, as {self._setup.file.path} says."
        if not self._setup.has_key(self._connection):
            message += f" Not tried out: {self._connection.key_variable} is not set here. Export it, and start again."
        self.dismiss(SetupResult(kind="saved", model=self._connection.model, message=message))

    def _after_unsaved(self, choice: Choice) -> None:
        if choice == "again":
            self.start_work(self._keep())
        else:
            self.dismiss(SKIPPED)

    @property
    def _model_name(self) -> str:
        return label_of(self._connection.model).short
