use crate::cli::ReportArgs; use crate::exit::Exit; use std::path::Path; use std::process::ExitCode;
pub fn report(args: &ReportArgs) -> Result<ExitCode, Exit> { after_run(&args.file)?; Ok(ExitCode::SUCCESS) }
pub fn after_run(path: &Path) -> Result<(), Exit> {
    let run = lab_store::load(path)?;
    let a = lab_stats::analyse(&run);
    let plan = run.plan.as_ref().unwrap();
    println!("{} blocks {} ending {:?}", path.display(), a.blocks, run.ending);
    for c in &a.cells { println!("{:30} {:12} {:10.0} [{:.0} {:.0}] cpu {:.0} n={} warm {:?}", plan.label(c.point), plan.subjects[c.subject].name, c.wall_ns.estimate, c.wall_ns.low, c.wall_ns.high, c.cpu_ns.estimate, c.blocks, c.warm_up); }
    for c in &a.comparisons { println!("{:30} {:12} {:.4} [{:.4} {:.4}] {:.3} {:?}", plan.label(c.point), plan.subjects[c.subject].name, c.ratio.estimate, c.ratio.low, c.ratio.high, c.ratio.level, c.verdict); }
    for c in &a.controls { println!("control {:30} {:.4} [{:.4} {:.4}] met {}", plan.label(c.point), c.ratio.estimate, c.ratio.low, c.ratio.high, c.met); }
    for w in &a.warnings { println!("{}: {}", w.kind, w.text); }
    Ok(())
}
