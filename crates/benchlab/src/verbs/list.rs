use crate::exit::Exit; use std::process::ExitCode;
pub fn list(_: &crate::cli::Cli, _: &crate::cli::ListArgs) -> Result<ExitCode, Exit> { Ok(ExitCode::SUCCESS) }
