"""The situations: each is a function of a jail that raises Wrong, or Skip where this machine cannot make it. Those of the sample come first."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time

from jail import HERE, Skip, ends, must, read

ROOT = HERE.parents[1]
ALL = []  # (group, name, function, whether it is of the sample)
DENIED = "that it has written"
QUIET = [["doctor"], ["list", "models"], ["estimate", "alexnet", "--batch", "1"], ["completion", "bash"], ["--version"], ["help", "run"]]


def situation(group, *cases, sample=True):
    """Of one function, one situation per case; a case is the function's further arguments."""
    def keep(function):
        for case in cases or ((),):
            case = case if isinstance(case, tuple) else (case,)
            name = " ".join([function.__name__.replace("_", " "), *map(str, case)])
            ALL.append((group, name, (lambda jail, f=function, c=case: f(jail, *c)), sample))
        return function
    return keep


def root():
    if os.geteuid() != 0:
        raise Skip("only root can do this")


def threads():
    return len(os.sched_getaffinity(0))


def as_user(jail):
    """Words that run a program as a user that has no entry in the list of users, with a folder of its own."""
    root()
    if not shutil.which("setpriv"):
        raise Skip("there is no setpriv")
    os.chown(jail.folder, 12345, 12345)
    words = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"]
    if jail.roof("--version", wrapper=words, raw=True).returncode != 0:
        raise Skip("another user may not run this build")
    return words


def without(*folders):
    """Words that hide folders of the system from a program."""
    script = "; ".join(f"mount -t tmpfs none {folder} 2>/dev/null || exit 99" for folder in folders) + '; exec "$@"'
    words = ["unshare", "-m", "sh", "-c", script, "sh"]
    if not shutil.which("unshare") or subprocess.run([*words, "true"], check=False, capture_output=True).returncode != 0:
        raise Skip("no namespace can be made")
    return words


def step_is_fine(jail, **how):
    row, losses, done = jail.step(**how)
    must(row and row["status"] == "ok" and len(losses) == 4, row and row["reason"], done.err)
    return row, done


# Generated code

def forbids_code(jail):
    source = "#include <sys/prctl.h>\n#include <unistd.h>\nint main(int c, char** v) { return prctl(65, 1, 0, 0, 0) ? 99 : execvp(v[1], v + 1); }"
    words = [jail.program("mdwe", source)]
    if jail.run(["true"], wrapper=words).returncode != 0:
        raise Skip("this kernel has no PR_SET_MDWE")
    return words


@situation("no generated code", *[(" ".join(words),) for words in QUIET])
def what_measures_nothing_works(jail, words):
    jail.fine(*words.split(), wrapper=forbids_code(jail))


@situation("no generated code")
def a_step_says_what_is_denied_or_is_measured(jail):
    row, _, done = jail.step(wrapper=forbids_code(jail))
    must(row is not None, done.err)
    must(row["status"] == "ok" or DENIED in row["reason"], row["status"], row["reason"])


@situation("no generated code")
def a_probe_says_what_is_denied(jail):
    plan = jail.folder / "probe.yaml"
    plan.write_text("name: p\nrun:\n  - {bench: latency, working_set: 16384}\n  - {bench: bandwidth, operation: load, working_set: 16384, threads: 1}\n"
                    "  - {bench: flops, operation: fma, precision: fp32, threads: 1}\n", encoding="utf-8")
    folder = jail.new_folder()
    jail.roof("sweep", plan, "--out", folder, wrapper=forbids_code(jail))
    rows = read(folder / "measurements.csv")
    must(len(rows) >= 3 and all(row["status"] == "unsupported" and DENIED in row["reason"] for row in rows), [row["reason"] for row in rows])


# Parts of the system that are not there

def same_machine(jail, **how):
    there, here = jail.machine(), jail.machine(**how)
    for key in ("name", "cpu_model", "vendor", "family", "model", "stepping", "threads"):
        must(there[key] == here[key], key, here[key], "with all of the system", there[key])


@situation("no /proc")
def a_shim_hides_proc_and_the_machine_has_its_name(jail):
    same_machine(jail, lacks="proc")


@situation("no /proc")
def a_step_and_two_ranks_are_measured_without_proc(jail):
    step_is_fine(jail, lacks="proc")
    plan = jail.folder / "ranks.yaml"
    plan.write_text((HERE / "plan.yaml").read_text(encoding="utf-8").replace("threads: 2", "threads: 2\n    ranks: 2"), encoding="utf-8")
    step_is_fine(jail, plan=plan, lacks="proc")


@situation("hidden folders", "/proc", "/sys", "/proc /sys", "/dev", "/proc /sys /dev", "/tmp /var/tmp", sample=False)
def the_machine_has_its_name_and_a_step_is_measured_without(jail, folders):
    wrapper = without(*[folder for folder in folders.split()])
    if "/tmp" in folders and str(jail.folder).startswith("/tmp"):
        raise Skip("the folder of the test lies there")
    if "/proc" in folders:
        same_machine(jail, wrapper=wrapper)
    for words in QUIET:
        jail.fine(*words, wrapper=wrapper)
    step_is_fine(jail, wrapper=wrapper)


# The working folder

def in_a_removed_folder(jail, *words):
    gone = jail.folder / "gone"
    gone.mkdir(exist_ok=True)
    return jail.roof(*words, wrapper=["sh", "-c", 'cd "$0" && rmdir "$0" && exec "$@"', gone])


@situation("no working folder", *[(" ".join(words),) for words in QUIET])
def what_needs_no_folder_works(jail, words):
    done = in_a_removed_folder(jail, *words.split())
    must(done.returncode == 0, done.err)


@situation("no working folder")
def absolute_paths_work_and_a_relative_one_is_told(jail):
    folder = jail.new_folder()
    done = in_a_removed_folder(jail, "sweep", HERE / "plan.yaml", "--out", folder)
    must(done.returncode == 0 and len(read(folder / "measurements.csv")) == 1, done.err)
    for words in (["check", folder], ["report", folder, "--out", jail.folder / "page.html"], ["export", folder, "--format", "csv"]):
        done = in_a_removed_folder(jail, *words)
        must(done.returncode == 0, words, done.err)
    for words in (["sweep", HERE / "plan.yaml", "--out", "x"], ["report", "x"], ["check", "x"]):
        done = in_a_removed_folder(jail, *words)
        must(done.returncode == 2 and done.err.startswith("roof: ") and len(done.err.splitlines()) == 1, words, done.returncode, done.err)


# Processors

@situation("processors", 256, 1024, 8192)
def the_kernel_has_larger_sets_of_bytes(jail, size):
    machine = jail.machine(lacks=f"masks {size}")
    must(machine["threads"] == threads() and "-0cpu" not in machine["name"], machine["threads"], machine["name"])
    step_is_fine(jail, lacks=f"masks {size}")


@situation("processors", sample=False)
def one_of_them_is_allowed(jail):
    if not shutil.which("taskset"):
        raise Skip("there is no taskset")
    machine = jail.machine(wrapper=["taskset", "-c", str(min(os.sched_getaffinity(0)))])
    must(machine["threads"] == 1, machine["threads"])


# File systems

@situation("locks and flushes", *[("locks", one) for one in ("ENOLCK", "ENOSYS", "EOPNOTSUPP")],
           *[("flush", one) for one in ("ENOTSUP", "ENOSYS", "EINVAL")])
def a_file_system_has_no(jail, what, error):
    row, done = step_is_fine(jail, lacks=f"{what} {getattr(errno, error)}")
    must("another run" not in done.err and ("no locks" if what == "locks" else "cannot flush") in done.err, done.err)


@situation("locks and flushes", "EIO", "ENOSPC")
def a_failed_flush_is_told(jail, error):
    done = jail.step(lacks=f"flush {getattr(errno, error)}")[2]
    must(done.returncode == 2 and os.strerror(getattr(errno, error)) in done.err, done.returncode, done.err)


@situation("locks and flushes")
def a_held_lock_is_another_run(jail):
    import fcntl
    folder = jail.new_folder()
    folder.mkdir()
    with (folder / ".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = jail.roof("sweep", HERE / "plan.yaml", "--out", folder)
    must(done.returncode == 2 and "another run is writing" in done.err, done.err)


@situation("locks and flushes")
def a_folder_that_may_not_be_listed_is_told_before_a_row(jail):
    wrapper = as_user(jail)
    folder = jail.new_folder()
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    folder.chmod(0o333)
    done = jail.roof("sweep", HERE / "plan.yaml", "--out", folder, wrapper=wrapper)
    must(done.returncode == 2 and "roof: cannot list the files in" in done.err and str(folder) in done.err, done.returncode, done.err)
    must(not (folder / "measurements.csv").exists(), "a row was measured")


# Temporary files

@situation("temporary files", "/dev/null/none", "relative/gone", "/dev/null", "")
def tmpdir_is(jail, folder):
    done = jail.roof("profile", "--time-only", "--", "sh", "-c", "exit 3", env={"TMPDIR": folder})
    must(done.returncode == 3 and "(measured)" in done.err, done.returncode, done.err)
    done = jail.roof("profile", "--out", jail.new_folder(), "--", "true", env={"TMPDIR": folder})
    must(done.returncode == 0 and "(measured)" in done.err, done.returncode, done.err)


# Signals and what a parent leaves

@situation("signals", "CHLD", "PIPE", "HUP", "CHLD INT TERM QUIT")
def the_parent_ignores(jail, names):
    words = ["env", *[f"--ignore-signal={name}" for name in names.split()]]
    if jail.run(["true"], wrapper=words, raw=True).returncode != 0:
        raise Skip("this env ignores no signals")
    done = jail.roof("profile", "--time-only", "--", "sh", "-c", "exit 3", wrapper=words)
    must(done.returncode == 3, done.returncode, done.err)
    step_is_fine(jail, wrapper=words)


def started(jail, words, ignored=()):
    before = {one: signal.signal(one, signal.SIG_IGN) for one in ignored}
    process = subprocess.Popen(words, cwd=jail.folder, env=jail.environment({}), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    for one, handler in before.items():
        signal.signal(one, handler)
    return process


def appears(file, process):
    ends(process, until=file.exists)
    return file.exists()


@situation("signals", "INT", "TERM", "HUP", "USR1", "QUIT")
def the_profiled_program_gets(jail, name):
    script = f"trap 'echo got > got; exit 5' {name}; touch begun; while :; do sleep 0.05; done"
    process = started(jail, [jail.roof_path, "profile", "--time-only", "--", "sh", "-c", script])
    try:
        must(appears(jail.folder / "begun", process), "the program did not begin")
        process.send_signal(getattr(signal, f"SIG{name}"))
        ends(process)
        must(process.returncode == 5 and (jail.folder / "got").exists(), process.returncode)
    finally:
        process.kill()


@situation("signals", "INT", "TERM")
def a_signal_that_was_ignored_at_the_start_stays_ignored(jail, name):
    number = getattr(signal, f"SIG{name}")
    folder = jail.new_folder()
    process = started(jail, [jail.roof_path, "calibrate", "--quick", "--out", folder], ignored=[number])
    try:
        must(appears(folder / "measurements.csv", process), "the calibration did not begin")
        process.send_signal(number)
        time.sleep(1)
        must(process.poll() is None, "was ended", process.returncode)
    finally:
        process.kill()
        process.wait()


# Users

@situation("users", "HOME", "nothing", sample=False)
def a_user_without_an_entry(jail, keeps):
    wrapper = as_user(jail)
    how = {"wrapper": wrapper, "env": {} if keeps == "HOME" else {"HOME": None}}
    for words in QUIET:
        jail.fine(*words, **how)
    row, losses, done = jail.step(**how)
    must(row and row["status"] == "ok", done.err)


@situation("users", "", "/dev/null/none", "relative", None)
def home_is(jail, home):
    for words in QUIET[:3]:
        jail.fine(*words, env={"HOME": home})
    done = jail.roof("sweep", HERE / "plan.yaml", env={"HOME": home})
    must(done.returncode == 0 or (done.returncode == 2 and "roof: " in done.err), done.returncode, done.err)


# Python

def python(jail, code, **env):
    return jail.run([jail.python_path or sys.executable, "-B", "-c", code], env={"PYTHONPATH": str(ROOT / "tools/python"), **env}, raw=True)


@situation("Python", "/dev/null/roof", "folder", "plain")
def roof_program_is(jail, what):
    (jail.folder / "folder").mkdir()
    (jail.folder / "plain").write_text("no program\n", encoding="utf-8")
    done = python(jail, "import roof\nfrom roof.program import NotFound, run\ntry:\n    run('doctor')\nexcept NotFound as error:\n    print('told:', error)",
                  ROOF_PROGRAM=str(jail.folder / what))
    must(done.out.startswith("told: ") and "ROOF_PROGRAM" in done.out, done.out, done.err)
