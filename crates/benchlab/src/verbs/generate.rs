use crate::exit::Exit; use std::process::ExitCode;
pub fn completions(_: &crate::cli::CompletionsArgs) -> Result<ExitCode, Exit> { Ok(ExitCode::SUCCESS) }
pub fn man(_: &crate::cli::ManArgs) -> Result<ExitCode, Exit> { Ok(ExitCode::SUCCESS) }
