use crate::exit::Exit; use std::process::ExitCode;
pub fn doctor(_: &crate::cli::Cli) -> Result<ExitCode, Exit> { Ok(ExitCode::SUCCESS) }
