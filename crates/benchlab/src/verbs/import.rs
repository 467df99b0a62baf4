use crate::exit::Exit; use std::process::ExitCode;
pub fn import(_: &crate::cli::Cli, _: &crate::cli::ImportArgs) -> Result<ExitCode, Exit> { Ok(ExitCode::SUCCESS) }
