//! Hashes the engine's sources, so that a run's id changes whenever its result could.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// What a result depends on, and what is between the engine and the code of users (`plugin`).  What of the metrics is
/// Python's is hashed there.
const PARTS: [&str; 5] = ["engine", "metrics", "plugin", "scenario", "schema"];

pub fn main() {
    let mut files = vec![Path::new("../engine/Cargo.toml").to_path_buf()];
    for part in PARTS {
        collect(&Path::new("..").join(part).join("src"), &mut files);
    }
    files.sort();
    let mut hash = Sha256::new();
    for file in &files {
        // With the lengths the boundaries between names and contents are part of the hash.
        let name = file.to_string_lossy().replace('\\', "/");
        let content = fs::read(file).unwrap_or_else(|e| panic!("{name}: {e}"));
        for part in [name.as_bytes(), &content] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    let hex: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=ENGINE_HASH={hex}");
    for part in PARTS {
        println!("cargo::rerun-if-changed=../{part}");
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the engine's sources are beside this crate") {
        let path = entry.expect("readable folder").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}
