//! `ncut-wasm-bindgen IN.wasm OUT`: makes `ncut.js`, `ncut.d.ts` and `ncut_bg.wasm` of a compiled module. It is what
//! `wasm-bindgen --target web` does, without the test runner that comes with that command.

use std::env;
use std::error::Error;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let mut names = env::args_os().skip(1);
    let (Some(module), Some(folder)) = (names.next(), names.next()) else {
        return Err("usage: ncut-wasm-bindgen IN.wasm OUT".into());
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name("ncut").web(true)?.typescript(true).omit_default_module_path(true);
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen.generate(folder)?;
    Ok(())
}
