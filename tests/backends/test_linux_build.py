"""Building the kernel: what needs none. The one test that builds it runs where it is asked for."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ccperf.errors import RunError, UsageError
from ccperf.runs.backends.linux import backend, build, source, steps

MAKEFILE = "# SPDX\nVERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\nEXTRAVERSION =\nNAME = x\n"
#: Text of our own with the few lines that the steps are about, in the shape that a kernel has them.
TEXTS = {
    "Makefile": MAKEFILE,
    "arch/um/Kconfig": (
        "config HZ\n\tint\n\tdefault 100\n\nconfig OTHER\n\tint\n\tdefault 10000\n"
        "config THIRD\n\tdefault 100\n"
    ),
    "arch/um/include/linux/time-internal.h": (
        "#define TIMER_MULTIPLIER 256\n#define TIMER_MIN_DELTA 500\n"
    ),
    "arch/um/kernel/time.c": (
        "\tif (set)\n\t\ttime_travel_update_time_rel(TIMER_MULTIPLIER);\n\tread();\n\tdelta += 1;\n"
    ),
    "arch/um/kernel/skas/syscall.c": "\t\tum_udelay(1);\n\t\tschedule();\n",
    "drivers/char/random.c": (
        "static void crng_make_state(struct s *state,\n\t\t\t    u8 *data, u32 random_data_len)\n"
        "{\n\tunsigned long flags;\n\n\tBUG_ON(random_data_len > 32);\n\tusual();\n}\n"
    ),
    "io_uring/io_uring.h": (
        "\treturn dist >= 0 || atomic_read(&ctx->cq_timeouts) != iowq->nr_timeouts;\n"
    ),
    "include/net/sock.h": (
        "\tif (sk->sk_use_task_frag)\n\t\treturn &current->task_frag;\n\n\treturn &sk->sk_frag;\n"
    ),
    "net/ipv4/Makefile": "obj-y := tcp.o tcp_input.o\nobj-$(X) += tcp_cubic.o\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    made = tmp_path / "linux"
    for name, text in TEXTS.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text)
    return made


def test_every_step_edits_its_own_line_and_no_other(tree: Path) -> None:
    steps.apply(tree)
    assert (tree / "arch/um/Kconfig").read_text() == TEXTS["arch/um/Kconfig"].replace(
        "default 100\n\nconfig OTHER", "default 1000\n\nconfig OTHER"
    )
    head = (tree / "arch/um/include/linux/time-internal.h").read_text()
    assert head == "#define TIMER_MULTIPLIER 1\n#define TIMER_MIN_DELTA 1\n"
    assert (tree / "arch/um/kernel/time.c").read_text() == "\tif (set)\n\t\t{ }\n\tread();\n\n"
    assert (tree / "arch/um/kernel/skas/syscall.c").read_text() == "\t\t{ }\n\t\tschedule();\n"
    assert (tree / "io_uring/io_uring.h").read_text() == "\treturn dist >= 0;\n"
    sock = (tree / "include/net/sock.h").read_text()
    assert sock.count("return &sk->sk_frag;") == 2
    assert "current" not in sock
    random = (tree / "drivers/char/random.c").read_text()
    assert random.index("ccperf.seed") < random.index("static void crng_make_state")
    assert random.index("crng_fast_key_erasure((u8 *)ccperf_stream") < random.index("usual()")


@pytest.mark.parametrize("step", steps.steps(), ids=lambda step: step.name.replace(" ", "-"))
def test_a_step_whose_text_is_gone_says_which_it_is_and_where(step: steps.Step, tree: Path) -> None:
    path = tree / step.files[0]
    path.write_text("something else\n")
    with pytest.raises(RunError) as error:
        step.apply(tree)
    assert step.name in str(error.value)
    assert step.files[0] in str(error.value)
    path.unlink()
    with pytest.raises(RunError, match="does not fit this kernel: it has no"):
        step.apply(tree)


def test_an_old_kernel_is_refused_on_a_processor_with_amx(tree: Path, tmp_path: Path) -> None:
    processor, sizes = tmp_path / "cpuinfo", tree / "arch/x86/um/user-offsets.c"
    processor.write_text("flags\t\t: fpu amx_bf16 amx_tile amx_int8\n")
    build._check_processor(tree, "7.3.4", processor)
    sizes.parent.mkdir(parents=True)
    sizes.write_text("\tDEFINE_LONGS(HOST_FP_SIZE, 2696);\n")
    with pytest.raises(build.Unavailable, match=r"6\.12\.117 starts no program"):
        build._check_processor(tree, "6.12.117", processor)
    processor.write_text("flags\t\t: fpu avx512f pku\n")
    build._check_processor(tree, "6.12.117", processor)


def test_a_step_is_not_taken_twice(tree: Path) -> None:
    steps.apply(tree)
    with pytest.raises(RunError, match="clock ticks of 1 ms"):
        steps.apply(tree)


def test_the_users_tree_stays_as_it_is(tree: Path, tmp_path: Path) -> None:
    (tree / ".config").write_text("somebody's")
    (tree / "net/ipv4/tcp.o").write_text("an object")
    room = tmp_path / "room"
    room.mkdir()
    made = source.unpack(source.find(tree), room)
    assert not (made / ".config").exists()
    assert not (made / "net/ipv4/tcp.o").exists()
    steps.apply(made)
    control = tmp_path / "tcp_mine.c"
    control.write_text("mine")
    build._add(control, made)
    assert (made / "net/ipv4/Makefile").read_text().endswith("obj-y += tcp_mine.o\n")
    for name, text in TEXTS.items():
        assert (tree / name).read_text() == text, name
    assert not (tree / "net/ipv4/tcp_mine.c").exists()


def test_a_file_of_the_kernels_own_name_takes_its_place(tree: Path, tmp_path: Path) -> None:
    control = tmp_path / "tcp_cubic.c"
    control.write_text("another cubic")
    build._add(control, tree)
    assert (tree / "net/ipv4/tcp_cubic.c").read_text() == "another cubic"
    assert (tree / "net/ipv4/Makefile").read_text() == TEXTS["net/ipv4/Makefile"]


def test_a_tree_is_known_by_what_is_in_it(tree: Path) -> None:
    before = source.find(tree).identity
    assert source.find(tree).identity == before
    os.utime(tree / "net/ipv4/Makefile", (1, 1))
    assert source.find(tree).identity != before


@pytest.mark.parametrize(
    ("makefile", "message"),
    [("", "is no source of Linux"), (MAKEFILE.replace("7", "5"), "6.12 or newer is needed")],
    ids=["none", "old"],
)
def test_a_tree_that_cannot_be_is_wrong_usage(tree: Path, makefile: str, message: str) -> None:
    (tree / "Makefile").write_text(makefile)
    with pytest.raises(UsageError, match=message) as error:
        source.find(tree)
    assert error.value.field == "--tree"


def test_of_packages_the_preferred_one_is_taken_or_else_the_newest() -> None:
    names = ["linux-source-6.1", "linux-source-6.12", "linux-source-6.9", "linux-source-7.10"]
    assert source.choose(names) == "linux-source-7.10"
    assert source.choose([*names, source.PREFERRED]) == source.PREFERRED
    with pytest.raises(RunError, match=r"its newest is linux-source-6\.1,"):
        source.choose(names[:1])
    with pytest.raises(RunError, match="its newest is none"):
        source.choose([])


def test_what_is_missing_on_a_machine_is_one_sentence_each(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    absent = {"bc", "xz"}
    monkeypatch.setattr(shutil, "which", lambda name: None if name in absent else f"/bin/{name}")
    with pytest.raises(build.Unavailable, match=r"needs bc, xz: apt-get install bc xz-utils$"):
        build.check_machine()
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "ROOM", 1 << 60)
    monkeypatch.setattr(build, "_NEEDED", {})
    if shutil.which("gcc"):
        with pytest.raises(build.Unavailable, match=r"of room, and .* XDG_CACHE_HOME names"):
            build.check_machine()
    monkeypatch.setattr(build.platform, "machine", lambda: "aarch64")
    with pytest.raises(build.Unavailable, match=r"x86-64.* \(this is linux on aarch64\)"):
        build.check_machine()


@pytest.mark.parametrize("name", ["mine.c", "tcp_mine.cc", "tcp_Mine.c"])
def test_a_control_that_is_not_named_as_linuxs_are_is_wrong_usage(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / name).touch()
    with pytest.raises(UsageError, match=r"tcp_mine\.c"):
        build.build(controls=[tmp_path / name])
    with pytest.raises(UsageError, match="there is no file"):
        build.build(controls=[tmp_path / "tcp_absent.c"])


def test_an_option_that_a_kernel_drops_is_named(tmp_path: Path) -> None:
    asked = [line for line in build.CONFIG.read_text().splitlines() if line.startswith("CONFIG_")]
    config = tmp_path / ".config"
    config.write_text("\n".join(asked))
    build._check_config(config, "7.3.4")
    config.write_text("\n".join(line for line in asked if "DUALPI2" not in line))
    build._check_config(config, "6.12.1")
    config.write_text("\n".join(asked).replace("CONFIG_HZ=1000", "CONFIG_HZ=100"))
    with pytest.raises(RunError, match=r"does not take these options: CONFIG_HZ=1000$"):
        build._check_config(config, "7.3.4")


def test_no_kernel_is_current_before_one_is_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert build.current() is None


def made(cache: Path) -> build.Kernel:
    """A kernel in a cache, as far as anybody looks at it."""
    folder = cache / "ccperf" / "linux" / "abc"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text('{"version": "7.3.4", "controls": []}')
    (folder / "headers.tar.xz").touch()
    shutil.copyfile("/bin/true", folder / "linux")
    return build.Kernel(folder / "linux", "7.3.4", folder.name, recipe=build.recipe())


@pytest.mark.parametrize("name", ["my cache", "12:30"])
def test_a_folder_that_the_kernels_makefiles_do_not_take_is_named(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They take a path with a space for two; programs run from there all the same."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
    monkeypatch.setattr(build, "_NEEDED", {})
    kernel = made(tmp_path / name)
    message = rf"nothing can be compiled in .*{name}.*no spaces and colons; XDG_CACHE_HOME names"
    with pytest.raises(build.Unavailable, match=message):
        build.headers(kernel)
    if shutil.which("gcc"):
        with pytest.raises(build.Unavailable, match=message):
            build.check_machine()


def test_a_kernel_that_is_there_and_current_is_not_written_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """So the cache may be one that can only be read."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "check_machine", lambda: None)
    monkeypatch.setattr(build.source, "find", lambda _tree: None)
    monkeypatch.setattr(build, "_key", lambda *_: "abc")
    kernel = made(tmp_path)
    current = tmp_path / "ccperf" / "linux" / "current"
    assert build.build() == build.current() == kernel
    current.chmod(0o444)
    os.utime(current, ns=(1, 1))
    assert build.build() == kernel
    assert current.stat().st_mtime_ns == 1


@pytest.mark.parametrize("lost", ["kernel.json", "linux", "all of linux"])
def test_a_kernel_that_a_power_cut_has_left_in_part_is_built_again(
    lost: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """So are drivers of ns-3 and modules: what is cut off starts nowhere, and stayed for good."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "check_machine", lambda: None)
    monkeypatch.setattr(build.source, "find", lambda _tree: None)
    monkeypatch.setattr(build, "_key", lambda *_: "abc")
    kernel = made(tmp_path)
    folder = kernel.program.parent
    whole = {name: (folder / name).read_bytes() for name in ("kernel.json", "linux")}
    (folder.parent / "current").write_text(f"abc {kernel.recipe}")
    assert build.current() == kernel
    file = folder / lost.split()[-1]
    file.write_bytes(b"" if "all" in lost else file.read_bytes()[:-20])
    assert build.current() is None

    def again(*_: object) -> None:
        (folder / "build-of-a-killed-one").mkdir()
        with build._room(folder) as room:
            assert [*folder.glob("build-*")] == [room]
        for name, content in whole.items():
            (folder / name).write_bytes(content)

    monkeypatch.setattr(build, "_build", again)
    assert build.build() == build.current() == kernel
    with pytest.raises(build.Unavailable, match=r"headers.tar.xz cannot be unpacked \(.*delete"):
        build.headers(kernel)


@pytest.mark.parametrize("named", ["abc", "abc 0123456789abcdef01234567"])
def test_a_kernel_of_other_steps_is_not_used(
    named: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What it sends may be other packets; once no steps were named."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(backend, "GUEST", Path(__file__))
    kernel = made(tmp_path)
    current = kernel.program.parent.parent / "current"
    current.write_text(named)
    missing = backend.Linux().available()
    if missing and "User-mode" in missing:
        pytest.skip(missing)
    assert missing
    assert missing.endswith("or steps: `ccperf linux build` builds it anew")
    current.write_text(f"abc {kernel.recipe}")
    assert "steps" not in (backend.Linux().available() or "")


@pytest.mark.slow
@pytest.mark.kernel
def test_a_kernel_is_built_starts_and_is_kept() -> None:
    if "CCPERF_BUILD_KERNEL" not in os.environ and build.current() is None:
        pytest.skip("no kernel here: `ccperf linux build`, or set CCPERF_BUILD_KERNEL=1")
    try:
        kernel = build.build()
    except build.Unavailable as missing:
        pytest.skip(str(missing))
    build._check_start(kernel.program)
    assert build.current() == kernel
    assert kernel.program.stat().st_size < 12e6
