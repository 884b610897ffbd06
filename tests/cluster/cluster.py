"""Six Slurm nodes on this machine, each in namespaces of its own, on a bridge with shaped links.

Must run in new network, UTS, PID and mount namespaces, which end all of it:

    unshare --net --uts --pid --mount --fork --mount-proc python3 cluster.py

All nodes share /mnt, and the processors of this machine. The program roof is bound to /mnt/roof.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

SHARED = Path("/mnt")
SLURM = SHARED / "slurm"
GROUPS = Path("/sys/fs/cgroup/cpu")
NODES = ["n1", "n2", "n3", "n4", "n5", "n6"]
PROGRAMS = ["unshare", "nsenter", "ip", "tc", "mount", "munged", "slurmctld", "slurmd", "sbatch", "srun", "mpirun"]

CONFIGURATION = f"""
ClusterName=test
SlurmctldHost=control(10.9.0.254)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={SHARED}/munge/socket
CredType=cred/munge
StateSaveLocation={SLURM}/state
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile={SLURM}/slurmctld.pid
SlurmdPidFile=/tmp/slurmd.pid
SlurmctldLogFile={SLURM}/slurmctld.log
SlurmdLogFile={SLURM}/%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
MpiDefault=pmix
ReturnToService=2
SlurmdTimeout=60
KillWait=5
InactiveLimit=0
MailProg=/bin/true
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
Prolog={SLURM}/prolog
PrologFlags=Alloc
"""

NO_PROLOG = "#!/bin/sh\nexit 0\n"

TRANSFERS = """
import socket, sys, threading, time
place = ("10.9.0.254", 5999)
def move(connection):
    def receive():
        while connection.recv(1 << 20):
            pass
    threading.Thread(target=receive).start()
    while True:
        connection.sendall(bytes(1 << 16))
if sys.argv[1] == "serve":
    server = socket.create_server(place)
    while True:
        threading.Thread(target=move, args=server.accept()[:1]).start()
time.sleep(1)
for _ in range(4):
    threading.Thread(target=move, args=(socket.create_connection(place),)).start()
"""


def missing():
    """Why no cluster can be made here, or None."""
    if os.geteuid() != 0:
        return "needs root for namespaces"
    lacking = [program for program in PROGRAMS if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None]
    if lacking:
        return f"not installed: {', '.join(lacking)}: apt-get install slurm-wlm munge openmpi-bin iproute2"
    tried = subprocess.run(["unshare", "--net", "--uts", "--pid", "--mount", "--fork", "--mount-proc", "sh", "-ec",
                            "ip link add br0 type bridge; ip link add v0 type veth peer name v1; mount -t tmpfs tmpfs /mnt; "
                            "tc qdisc add dev v0 root tbf rate 1gbit burst 256kb latency 50ms"],
                           capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"no namespaces or shaped links here: {tried.stderr.strip()}"


def log(text):
    """Appends to the file that ROOF_CLUSTER_LOG names."""
    if "ROOF_CLUSTER_LOG" in os.environ:
        with open(os.environ["ROOF_CLUSTER_LOG"], "a", encoding="utf-8") as file:
            file.write(text.rstrip() + "\n\n")


def run(*words, status=0, timeout=180, environment=None):
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=timeout, env={**os.environ, **(environment or {})})
    if status is not None and done.returncode != status:
        raise AssertionError(f"{' '.join(words)}: status {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def wait_until(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s in vain until {what}")
        time.sleep(0.2)


class Cluster:
    """Call in new namespaces. `build`: the folder that holds bin/roof."""

    def __init__(self, build):
        self.places = {}
        self.children = []
        self.share(build)
        self.configure()
        self.link()
        self.start()

    def share(self, build):
        run("mount", "--make-rprivate", "/")
        # Bound before /mnt is covered: the program may lie anywhere.
        run("mount", "-t", "tmpfs", "tmpfs", "/run")
        run("mkdir", "/run/roof-build")
        run("mount", "--bind", str(build), "/run/roof-build")
        run("mount", "-t", "tmpfs", "tmpfs", str(SHARED))
        for folder in ("munge", "slurm/state", "roof", "results"):
            (SHARED / folder).mkdir(parents=True)
        run("mount", "--bind", "/run/roof-build", str(SHARED / "roof"))
        os.chdir(SHARED)  # jobs begin in the folder that submitted them

    def configure(self):
        run("hostname", "control")
        lines = [CONFIGURATION]
        for number, node in enumerate(NODES, 1):
            lines.append(f"NodeName={node} NodeAddr=10.9.0.{number} Sockets=1 CoresPerSocket=2 ThreadsPerCore=1 State=UNKNOWN")
        lines.append(f"PartitionName=all Nodes={','.join(NODES)} Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE")
        (SLURM / "slurm.conf").write_text("\n".join(lines) + "\n", encoding="ascii")
        self.set_prolog(NO_PROLOG)
        (SLURM / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n", encoding="ascii")
        hosts = SLURM / "hosts"
        hosts.write_text("127.0.0.1 localhost\n10.9.0.254 control\n" +
                         "".join(f"10.9.0.{number} {node}\n" for number, node in enumerate(NODES, 1)), encoding="ascii")
        run("mount", "--bind", str(hosts), "/etc/hosts")
        os.environ["SLURM_CONF"] = str(SLURM / "slurm.conf")
        os.environ.update({"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "eth0"})
        os.environ["PATH"] = f"{SHARED}/roof/bin:{os.environ['PATH']}:/usr/sbin:/sbin"

    @staticmethod
    def set_prolog(script):
        """It stands in slurm.conf from the beginning: Slurm runs none that `scontrol reconfigure` adds."""
        place = SLURM / "prolog"
        place.with_suffix(".new").write_text(script, encoding="utf-8")
        place.with_suffix(".new").chmod(0o755)
        place.with_suffix(".new").rename(place)

    def link(self):
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "br0", "type", "bridge")
        run("ip", "addr", "add", "10.9.0.254/24", "dev", "br0")
        run("ip", "link", "set", "br0", "up")
        for number, node in enumerate(NODES, 1):
            # /tmp must be the node's own: PMIx names its sockets alike on all nodes.
            place = subprocess.Popen(["unshare", "--net", "--uts", "--mount", "sh", "-ec",
                                      f"hostname {node}; mount -t tmpfs tmpfs /tmp; mkdir -p /var/spool/slurmd; "
                                      f"mount -t tmpfs tmpfs /var/spool/slurmd; touch {SLURM}/{node}.up; exec sleep infinity"])
            self.places[node] = place.pid
            self.children.append(place)
            wait_until(f"{node} has its namespaces", (SLURM / f"{node}.up").exists)
            run("ip", "link", "add", f"v{number}", "type", "veth", "peer", "name", "eth0", "netns", str(place.pid))
            run("ip", "link", "set", f"v{number}", "master", "br0", "up")
            self.on(node, "ip", "link", "set", "lo", "up")
            self.on(node, "ip", "addr", "add", f"10.9.0.{number}/24", "dev", "eth0")
            self.on(node, "ip", "link", "set", "eth0", "up")
            for shape in (lambda *words, name=f"v{number}": run("tc", "qdisc", "add", "dev", name, *words),
                          lambda *words, node=node: self.on(node, "tc", "qdisc", "add", "dev", "eth0", *words)):
                shape("root", "tbf", "rate", "1gbit", "burst", "256kb", "latency", "50ms")

    def slow_link(self, one, other, rate):
        """Between these two nodes alone, both ways."""
        for node, to in ((one, other), (other, one)):
            address = f"10.9.0.{NODES.index(to) + 1}"
            self.on(node, "tc", "qdisc", "del", "dev", "eth0", "root")
            self.on(node, "tc", "qdisc", "add", "dev", "eth0", "root", "handle", "1:", "htb", "default", "10")
            for number, limit in ((10, "1gbit"), (20, rate)):
                self.on(node, "tc", "class", "add", "dev", "eth0", "parent", "1:", "classid", f"1:{number}", "htb", "rate", "1gbit",
                        "burst", "256kb")
                self.on(node, "tc", "qdisc", "add", "dev", "eth0", "parent", f"1:{number}", "tbf", "rate", limit, "burst", "64kb",
                        "latency", "50ms")
            self.on(node, "tc", "filter", "add", "dev", "eth0", "protocol", "ip", "parent", "1:", "u32", "match", "ip", "dst",
                    f"{address}/32", "flowid", "1:20")

    def start(self):
        key = SHARED / "munge" / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        run("munged", "--force", f"--key-file={key}", f"--socket={SHARED}/munge/socket", f"--pid-file={SHARED}/munge/pid",
            f"--log-file={SHARED}/munge/log", f"--seed-file={SHARED}/munge/seed")
        run("slurmctld")
        for node in NODES:
            self.start_node(node)
        self.wait_until_idle()

    def start_node(self, node):
        """The node's processes are in a control group of its own, where there are such groups."""
        group = self.group(node)
        enter = ""
        if GROUPS.joinpath("cpu.cfs_quota_us").exists():
            group.mkdir(exist_ok=True)
            enter = f"echo 0 > {group}/cgroup.procs; "
        self.on(node, "sh", "-ec", f"{enter}exec slurmd -N {node}")

    @staticmethod
    def group(node):
        return GROUPS / f"roof-cluster-{node}"

    def share_processors(self, share):
        """Gives each node's jobs this share of one processor, None: all. Returns whether that is possible here."""
        period = 10_000
        for node in NODES:
            if not self.group(node).exists():
                return False
            (self.group(node) / "cpu.cfs_period_us").write_text(str(period), encoding="ascii")
            (self.group(node) / "cpu.cfs_quota_us").write_text(str(-1 if share is None else int(share * period)), encoding="ascii")
        return True

    def load_adapter(self, node):
        """Bulk transfers between the node and the control host, both ways, until the cluster ends, as those of another tenant."""
        for before, role in (([], "serve"), (["nsenter", "-t", str(self.places[node]), "--net"], "connect")):
            self.children.append(subprocess.Popen([*before, sys.executable, "-c", TRANSFERS, role]))

    @staticmethod
    def wait_until_idle():
        wait_until("all nodes are idle", lambda: run("sinfo", "-h", "-t", "idle", "-o", "%D", status=None).stdout.strip() == str(len(NODES)))

    def on(self, node, *words, **options):
        return run("nsenter", "-t", str(self.places[node]), "--net", "--uts", "--mount", *words, **options)

    def processes_on(self, node, name=None):
        """Ids of the processes with the node's network and this name, None: any; the node's own first process excepted."""
        net = os.readlink(f"/proc/{self.places[node]}/ns/net")
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(place / "ns" / "net") != net or int(place.name) == self.places[node]:
                    continue
                if name in (None, (place / "comm").read_text(encoding="utf-8").strip()):
                    found.append(int(place.name))
            except OSError:  # it has ended
                continue
        return found

    def submit(self, script, *options, seconds=180):
        """Runs a batch script to its end and returns its output."""
        path = SHARED / "job.sh"
        path.write_text("#!/bin/bash\n" + script, encoding="utf-8")
        out = SHARED / "job.out"
        out.unlink(missing_ok=True)
        job = run("sbatch", "--parsable", "-o", str(out), *options, str(path)).stdout.strip()
        wait_until("the job has ended", lambda: not run("squeue", "-h", "-j", job, status=None).stdout.strip(), seconds)
        text = out.read_text(encoding="utf-8", errors="replace") if out.exists() else ""
        log(f"$ sbatch {' '.join(options)} <<END\n{script}END\n{text}")
        return text

    def end(self):
        for child in self.children:
            child.kill()
        if os.getpid() == 1:  # all others in these namespaces
            os.kill(-1, signal.SIGKILL)
        for node in NODES:
            if self.group(node).exists():
                wait_until(f"all processes of {node} have ended", lambda group=self.group(node): not (group / "cgroup.procs").read_text())
                self.group(node).rmdir()
