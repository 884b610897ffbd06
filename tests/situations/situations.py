"""The situations: each is a function of a jail that raises Wrong, or Skip where this machine cannot make it. Those of the sample come first."""

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from jail import HERE, Skip, must, read

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
    must(done.returncode == 2 and "roof: cannot use" in done.err and str(folder) in done.err, done.returncode, done.err)
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
    done = jail.roof("profile", "--time-only", "--", "sh", "-c", "exit 3", wrapper=words, timeout=30)
    must(done.returncode == 3, done.returncode, done.err)
    step_is_fine(jail, wrapper=words)


def started(jail, words, ignored=()):
    before = {one: signal.signal(one, signal.SIG_IGN) for one in ignored}
    process = subprocess.Popen(words, cwd=jail.folder, env=jail.environment({}), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    for one, handler in before.items():
        signal.signal(one, handler)
    return process


def appears(file, process):
    for _ in range(600):
        if file.exists() or process.poll() is not None:
            return file.exists()
        time.sleep(0.05)
    return False


@situation("signals", "INT", "TERM", "HUP", "USR1", "QUIT")
def the_profiled_program_gets(jail, name):
    script = f"trap 'echo got > got; exit 5' {name}; touch begun; while :; do sleep 0.05; done"
    process = started(jail, [jail.roof_path, "profile", "--time-only", "--", "sh", "-c", script])
    try:
        must(appears(jail.folder / "begun", process), "the program did not begin")
        process.send_signal(getattr(signal, f"SIG{name}"))
        must(process.wait(30) == 5 and (jail.folder / "got").exists(), process.returncode)
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


# Streams

@situation("streams", "ONEDNN_VERBOSE=1", "DNNL_VERBOSE=2", "ONEDNN_VERBOSE=all", "OMP_DISPLAY_ENV=true")
def json_is_json_under(jail, variable):
    env = dict([variable.split("=")])
    must(jail.fine("run", "alexnet", "--batch", "1", "--steps", "2", "--threads", "1", "--json", "--out", jail.new_folder(), env=env).json, variable)
    jail.fine("doctor", "--json", env=env)


@situation("streams")
def what_a_library_prints_is_on_standard_error(jail):
    source = ("#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\n#include <sys/utsname.h>\n#include <unistd.h>\n"
              "int uname(struct utsname* to) { puts(\"noise\"); fflush(stdout); if (write(1, \"noise\\n\", 6) < 0) return -1;\n"
              "int (*next)(struct utsname*) = dlsym(RTLD_NEXT, \"uname\"); return next(to); }\n"
              "__attribute__((destructor)) static void end(void) { puts(\"late noise\"); }\n")
    library = jail.program("noise.so", source, "-shared", "-fPIC", "-ldl")
    done = jail.fine("doctor", "--json", env={"LD_PRELOAD": str(library)})
    must("noise" in done.err, "the library was not heard", done.err)


@situation("streams")
def a_profiled_program_has_standard_output(jail):
    done = jail.roof("profile", "--time-only", "--", "echo", "its own words")
    must(done.out == "its own words\n", done.out)


@situation("streams", ">&-", "2>&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-")
def closed(jail, how):
    script = f'exec "$@" {how}'
    folder = jail.new_folder()
    done = jail.roof("sweep", HERE / "plan.yaml", "--out", folder, wrapper=["sh", "-c", script, "sh"])
    must(done.returncode == (2 if ">&-" in how.replace("2>&-", "") else 0), how, done.returncode, done.err)
    rows = read(folder / "measurements.csv")
    must(len(rows) == 1 and rows[0]["status"] == "ok", rows)
    must(jail.fine("check", folder).out.count("nothing is wrong") == 1, "check")


@situation("streams", "doctor", "list models", "estimate alexnet --batch 1", "help")
def a_full_device(jail, words):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = jail.roof(*words.split(), stdout=full)
    must(done.returncode == 2 and "standard output cannot be written" in done.err, done.returncode, done.err)


def published():
    folders = sorted(ROOT.glob("results/examples/*/*-steps"))
    if not folders:
        raise Skip("there are no published steps")
    return folders[-1]


@situation("streams", 60, 200)
def a_file_gets_all_columns_whatever_the_terminal_of_messages_is(jail, columns):
    if not shutil.which("script"):
        raise Skip("there is no script")
    report = f"'{jail.roof_path}' report '{published()}' --out page.html"
    jail.run(["sh", "-c", f"{report} > a.txt 2>/dev/null </dev/null"])
    jail.run(["script", "-qec", f"stty cols {columns}; {report} > b.txt", "/dev/null"])
    a, b = (Path(jail.folder, name).read_text(encoding="utf-8") for name in ("a.txt", "b.txt"))
    must(a and a == b, "lines", a.count("\n"), b.count("\n"))


@situation("streams", sample=False)
def a_terminal_gets_what_fits(jail):
    if not shutil.which("script"):
        raise Skip("there is no script")
    done = jail.run(["script", "-qec", f"stty cols 60; '{jail.roof_path}' list models 2>/dev/null", "/dev/null"])
    must(done.out and max(map(len, done.out.splitlines())) <= 61, max(map(len, done.out.splitlines())))


@situation("locales", "C", "POSIX", "de_DE.ISO-8859-1", "de_DE", "ja_JP.EUC-JP")
def is_ascii_under(jail, locale):
    for words in (["report", published(), "--out", jail.folder / "page.html"], ["help"], ["list", "models"], ["doctor"],
                  ["report", published(), "--out", jail.folder / "page.html", "--json"], ["run", "nosuch…model"]):
        done = jail.roof(*words, env={"LC_ALL": locale})
        odd = re.search(r"[^\x00-\x7F].{0,40}", done.out + done.err)
        must(not odd, words, odd and odd.group(0))


@situation("locales", "C.UTF-8", "tr_TR.utf8", sample=False)
def is_whole_under(jail, locale):
    done = jail.fine("report", published(), "--out", jail.folder / "page.html", env={"LC_ALL": locale})
    must("≤" in done.out or "…" in done.out or "█" in done.out, done.out[:300])


# Control groups

def in_group(jail, quota):
    """Words that run a program in a control group with so many processors' worth of time."""
    root()
    for folder, files in (("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": str(int(100000 * quota))}),
                          ("/sys/fs/cgroup", {"cpu.max": f"{int(100000 * quota)} 100000"})):
        group = Path(folder, f"roof-situation-{os.getpid()}-{jail.runs}-{int(100 * quota)}")
        try:
            group.mkdir()
            for name, value in files.items():
                if not (group / name).exists():
                    raise OSError(name)
                (group / name).write_text(value, encoding="utf-8")
            return group, ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
        except OSError:
            if group.exists():
                group.rmdir()
    raise Skip("no control group can be made")


@situation("control groups")
def a_throttled_step_names_the_limit(jail):
    plan = jail.folder / "long.yaml"
    plan.write_text((HERE / "plan.yaml").read_text(encoding="utf-8").replace("batch: 4", "batch: 64").replace("threads: 2", "threads: 1").replace(
        "max_samples: 3", "max_samples: 40").replace("min_samples: 3", "min_samples: 40"), encoding="utf-8")
    group, wrapper = in_group(jail, 0.1)
    try:
        row, _, done = jail.step(plan=plan, wrapper=wrapper)
    finally:
        group.rmdir()
    must(row and row["status"] == "ok" and "the control group's limit throttled" in row["remarks"], row and row["remarks"], done.err)


@situation("control groups")
def two_limits_are_two_machines(jail):
    names = set()
    for quota in (0.5, 1.5):
        group, wrapper = in_group(jail, quota)
        try:
            names.add(jail.machine(wrapper=wrapper)["name"])
        finally:
            group.rmdir()
    names.add(jail.machine()["name"])
    must(len(names) == (3 if threads() > 1 else 2), names)


# Batch systems, hosts, disks

@situation("batch systems", "OMPI_COMM_WORLD_RANK=0 PMI_RANK=0", "SLURM_PROCID=x SLURM_JOB_ID=1", "SLURM_NTASKS=8 SLURM_JOB_ID=1",
           "RANK=3 WORLD_SIZE=4 LOCAL_RANK=3", "PMIX_RANK=1", "SLURMD_NODENAME=a.b.c", "NODE_NAME=-k8s/7", "TZ=Nowhere/Land", "TERM=dumb",
           "COLUMNS=10", "POSIXLY_CORRECT=1", "CDPATH=/", "IFS=x", sample=False)
def stale_variables(jail, text):
    env = dict(word.split("=") for word in text.split())
    jail.fine("doctor", "--json", env=env)
    row, _, done = jail.step(env=env)
    must((row and row["status"] == "ok") or (done.returncode == 2 and done.err.startswith("roof: ")), done.returncode, done.err)


@situation("hosts", "3f2a9c01d4e7", "(none)", "a" * 64, "ü", sample=False)
def the_host_is_called(jail, name):
    words = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', name]
    if subprocess.run([*words, "true"], check=False, capture_output=True).returncode != 0:
        raise Skip("no host name can be set")
    jail.fine("doctor", "--json", wrapper=words)
    step_is_fine(jail, wrapper=words)


@situation("disks", "64k", "200k", sample=False)
def a_small_disk_of(jail, size):
    folder = jail.folder / "disk"
    folder.mkdir()
    words = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs -o size={size} none "{folder}" || exit 99; head -c {size} /dev/zero > "{folder}/full" 2>/dev/null; '
             '"$@"; status=$?; rm "' + str(folder) + '/full"; "$@" || exit 98; exit $status', "sh"]
    done = jail.roof("sweep", HERE / "plan.yaml", "--out", folder / "run", wrapper=words)
    if done.returncode == 99:
        raise Skip("no disk can be made")
    must(done.returncode in (0, 2) and (done.returncode == 0 or "No space left" in done.err), done.returncode, done.err)


@situation("limits", "ulimit -n 12", "ulimit -s 128", "ulimit -l 64", "ulimit -c 0", "umask 077", sample=False)
def under(jail, limit):
    step_is_fine(jail, wrapper=["sh", "-c", f'{limit}; exec "$@"', "sh"])


@situation("cron", "report", "check", "export --format csv", "place", sample=False)
def an_empty_environment(jail, words):
    name, *options = words.split()
    folder = [str(published())]
    options += ["--out", jail.folder / "page.html"] if name == "report" else []
    done = jail.run(["env", "-i", jail.roof_path, name, *folder, *options], cwd="/")
    must(done.returncode in (0, 1, 2) and (done.returncode == 0 or done.err.startswith("roof: ")), done.returncode, done.err)
