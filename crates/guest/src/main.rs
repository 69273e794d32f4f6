//! The only program of a Linux kernel in virtual time: it runs a scenario on the engine, with the kernel's own sockets
//! at the ends of all connections.
//!
//! Anywhere else it says which engine is in it, so that whoever starts kernels finds out whether they belong together.

#[cfg(target_os = "linux")]
mod linux;

fn main() {
    #[cfg(target_os = "linux")]
    if std::process::id() == 1 {
        return linux::main();
    }
    println!("{}", env!("ENGINE_HASH"));
}
