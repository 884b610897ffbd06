# Sourced by tools/package. older_root prints the folder of a Debian 11 (C library 2.31), in the cache or where ROOF_OLDER_ROOT says, with what
# the program is linked with; it makes it, as root and with the network, if there is none:
#   from Debian 11   the C library, and the libraries of which Debian 12's ask for a newer one
#   from this one    headers, and the libraries that do not, as tools/install_dependencies installed them
#   from PyPI        oneDNN
#   made here        the C++ library of this compiler, linked with the older C library
readonly older_packages=(libc6-dev libgomp1 libhwloc-dev libyaml-cpp-dev libprotobuf-dev protobuf-compiler libonnx-dev)
readonly newer_packages=(libcli11-dev nlohmann-json3-dev libfmt-dev libxbyak-dev libzydis-dev libzydis4.0 libzycore-dev libzycore1.4
                         libturbojpeg0-dev libturbojpeg0 libpfm4-dev libpfm4 libdeflate-dev libdeflate0 libcsv-dev libcsv3 libstdc++-12-dev)

# Files of this system, at the same places. Of valgrind its headers; of fmt not its library; no static libraries.
copy_newer_packages() {
    local root=$1 package file
    for package in "${newer_packages[@]}" valgrind; do
        dpkg-query --listfiles "$package" | while read -r file; do
            [[ -d $file || $file == */share/doc/* || $file == */share/man/* || $file == */cmake/fmt/* || $file == */libfmt.* || $file == *.a ]] && continue
            [[ $package != valgrind || $file == */include/* ]] || continue
            echo "${file#/}"
        done
    done | tar --create --directory / --files-from - | tar --extract --directory "$root"
    for package in "${newer_packages[@]}"; do
        mkdir -p "$root/usr/share/doc/$package"
        cp -L "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/"
    done
}

# Links that begin at / lead out of a root.
make_links_relative() {
    local root=$1 link
    find "$root/lib64/" "$root/usr/lib/x86_64-linux-gnu" -maxdepth 1 -type l -lname '/*' | while read -r link; do
        ln -sfn "$(realpath --no-symlinks --relative-to="$(realpath "$(dirname "$link")")" "$(realpath "$root")$(readlink "$link")")" "$link"
    done
    sed -i "s|\"/usr|\"$2/usr|" "$root"/usr/lib/x86_64-linux-gnu/cmake/yaml-cpp/*.cmake
}

make_cxx_library() {
    local root=$1 libraries=$1/usr/lib/x86_64-linux-gnu own compiler
    own=$(dirname "$(g++-12 -print-file-name=libstdc++_pic.a)")
    compiler=(g++-12 --sysroot="$root" -B"$libraries" -L"$libraries" -L"$root/lib/x86_64-linux-gnu" -O2 -fPIC -std=c++20 -D_GLIBCXX_ASYNC_ABI_COMPAT)
    "${compiler[@]}" -shared -s -nodefaultlibs -o "$root/opt/roof/lib/libstdc++.so.6" tools/packaging/older.cpp -Wl,-soname,libstdc++.so.6 \
        -Wl,--version-script="$own/libstdc++_pic.map" -Wl,--whole-archive "$own/libstdc++_pic.a" -Wl,--no-whole-archive "$own/libstdc++.a" \
        -Wl,-z,defs -lm -lpthread -lc -lgcc_s
    ln -s libstdc++.so.6 "$root/opt/roof/lib/libstdc++.so"
    ln -s ../../../usr/lib/x86_64-linux-gnu/libgomp.so.1 "$root/opt/roof/lib/libgomp.so"
}

get_onednn() {
    local root=$1 wheel
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
        --requirement tools/packaging/onednn.txt --dest "$root/opt/roof/wheels"
    for wheel in "$root"/opt/roof/wheels/*.whl; do
        python3 -m zipfile -e "$wheel" "$root/opt/roof/wheels"
    done
    mv "$root"/opt/roof/wheels/onednn_cpu_gomp-*.data/data/lib/libdnnl.so.2 "$root/opt/roof/lib/"
    mv "$root"/opt/roof/wheels/onednn_devel_cpu_gomp-*.data/data/include "$root/opt/roof/"
    mkdir -p "$root/usr/share/doc/onednn"
    mv "$root"/opt/roof/wheels/onednn_cpu_gomp-*.data/data/share/doc/onednn/LICENSE "$root/usr/share/doc/onednn/copyright"
    ln -s libdnnl.so.2 "$root/opt/roof/lib/libdnnl.so"
    rm -r "$root/opt/roof/wheels"
}

older_root() {
    local digest root made
    digest=$(cat tools/packaging/{root.bash,older.cpp,onednn.txt} | sha256sum | cut -c1-16)
    root=${ROOF_OLDER_ROOT:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/roof/debian11-$digest}
    if [[ ! -d $root ]]; then
        [[ $(id -u) -eq 0 ]] || fail "debootstrap makes a root of Debian 11 only as root"
        echo "making a root of Debian 11 in $root" >&2
        mkdir -p "$(dirname "$root")"
        made=$(mktemp -d "$root.XXXXXX")
        debootstrap --variant=minbase bullseye "$made" >&2
        chroot "$made" env DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes --no-install-recommends "${older_packages[@]}" >&2
        mkdir -p "$made/opt/roof/lib"
        copy_newer_packages "$made"
        make_links_relative "$made" "$root"
        make_cxx_library "$made"
        get_onednn "$made"
        mv -T "$made" "$root"
    fi
    echo "$root"
}
