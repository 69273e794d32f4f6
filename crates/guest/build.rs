//! The same hash of the engine's sources that the package has, so that they find out whether they belong together.

#[path = "../py/build.rs"]
mod engine;

fn main() {
    engine::main();
}
