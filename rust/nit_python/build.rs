//! Lays the first-party plugins where maturin picks them up as package data
//! (`nit_kernel/plugins` in the wheel); the repository keeps them in `plugins/`.
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            if entry.file_name() != "__pycache__" {
                copy(&entry.path(), &target)?;
            }
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let plugins = PathBuf::from("../../plugins");
    println!("cargo::rerun-if-changed={}", plugins.display());
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?).join("plugins");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    copy(&plugins, &out)
}
