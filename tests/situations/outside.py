"""More situations: streams, locales, control groups, batch systems, hosts, disks and limits."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from jail import HERE, Skip, must, read
from situations import ROOT, in_a_removed_folder, root, situation, step_is_fine, threads

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
        counts = (group / "cpu.stat").read_text(encoding="utf-8")
    finally:
        group.rmdir()
    if "nr_throttled 0\n" in counts:
        raise Skip("this machine is too busy for the step to reach its limit")
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


# Commands of the Python package

PACKAGE = ["fleet", "script", "slurm"]


@situation("the package", "PYTHONHOME=/dev/null/none", "PYTHONINSPECT=1", "PYTHONIOENCODING=latin-1", "PYTHONSTARTUP=/dev/null/none", "PYTHONWARNINGS=error",
           "PYTHONOPTIMIZE=2", "PYTHONDEVMODE=1", "PYTHONUTF8=0", "PYTHONCOERCECLOCALE=0", "LC_ALL=C", "LC_ALL=xx_YY", "IFS=x", "PATH=/usr/bin:relative:")
def a_command_of_it_runs_under(jail, variable):
    done = jail.fine(*PACKAGE, env=dict([variable.split("=")]))
    must(done.out == jail.fine(*PACKAGE).out and not done.err, done.err)


@situation("the package", ">&-", "2>&-", "<&-", ">&- 2>&-", ">/dev/full")
def a_command_of_it_with(jail, how):
    done = jail.roof(*PACKAGE, wrapper=["sh", "-c", f'exec "$@" {how}', "sh"])
    must(done.returncode == (2 if re.search(r"(^|[^2])>", how) else 0), done.returncode, done.err)
    must(not done.err or done.err == "roof: standard output cannot be written\n", done.err)


@situation("the package", *[(" ".join(words),) for words in (PACKAGE, ["fleet", "none"], ["import", "none", "--out", "x"])])
def a_command_of_it_in_a_removed_folder(jail, words):
    done = in_a_removed_folder(jail, *words.split())
    must(done.returncode == (0 if words.split() == PACKAGE else 2) and len(done.err.splitlines()) == done.returncode // 2, done.returncode, done.err)


@situation("the package", "A=1", "PYTHONPATH=:/none", "PYTHONPATH=/none:.", "PYTHONPATH=", "PATH=relative:/usr/bin:")
def no_module_of_the_working_folder_is_imported(jail, variable):
    for name in ("json", "csv", "codecs", "argparse", "numpy", "pandas", "roof"):
        (jail.folder / f"{name}.py").write_text("print('of the working folder')\n", encoding="utf-8")
    for words in (PACKAGE, ["import", "none", "--out", "x"], ["estimate", "none.onnx", "--batch", "1"]):
        done = jail.roof(*words, env=dict([variable.split("=")]))
        must("of the working folder" not in done.out + done.err, words, done.out)


@situation("the package")
def a_library_that_cannot_be_loaded_is_named(jail):
    for name in ("numpy", "pandas"):
        (jail.folder / f"{name}.py").write_text("raise ImportError('no room for it')\n", encoding="utf-8")
    done = jail.roof("fleet", published(), env={"PYTHONPATH": str(jail.folder)})
    said = "roof: a library of Python cannot be loaded: no room for it\n"
    must(done.returncode == 2 and done.err == said, done.returncode, done.err)


@situation("the package", "ulimit -n 12", "ulimit -s 128", "ulimit -f 0", "umask 077")
def a_command_of_it_under(jail, limit):
    jail.fine(*PACKAGE, wrapper=["sh", "-c", f'{limit}; exec "$@"', "sh"])


@situation("the package", "CHLD", "CHLD INT TERM")
def a_command_of_it_where_the_parent_ignores(jail, names):
    jail.fine(*PACKAGE, wrapper=["env", *[f"--ignore-signal={name}" for name in names.split()]])


# Programs that roof starts

@situation("search paths", "report", "profile", "atlas", "import")
def no_program_of_the_working_folder_is_started(jail, name):
    words = {"report": ["report", published(), "--out", "page.html", "--pictures", "pictures"], "profile": ["profile", "--", "true"], "atlas": ["atlas"],
             "import": ["import", "none", "--out", "x"]}[name]
    (jail.folder / "relative").mkdir()
    for folder in (jail.folder, jail.folder / "relative"):
        for program in ("rsvg-convert", "valgrind", "python3", "nvidia-smi", "numactl", "roof"):
            file = folder / program
            file.write_text("#!/bin/sh\ntouch started\n", encoding="utf-8")
            file.chmod(0o755)
    jail.roof(*words, env={"PATH": f":.:relative:{os.environ['PATH']}:"})
    must(not (jail.folder / "started").exists(), words, "started a program of the working folder")
