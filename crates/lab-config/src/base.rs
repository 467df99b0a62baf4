// SPDX-License-Identifier: Apache-2.0
//! The base of a change, read from the environment variables of CI services.

/// The setting that defines a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseSource {
    /// An environment variable, with its name.
    Variable(&'static str),
    /// The option `--base`.
    Option,
    /// The key `ci.base` of the file.
    File,
}

/// The base of a change, as the user or the CI service specified it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// The branch or the commit.
    pub name: String,
    /// True if the name is a commit rather than a branch, so that no remote is needed.
    pub is_commit: bool,
    /// The setting that the name comes from.
    pub source: BaseSource,
}

/// Environment variables with the target of a pull request. The flag is true if the variable
/// contains a commit rather than a branch.
///
/// Sources: GitHub Actions (also Gitea, Forgejo), GitLab CI/CD, Bitbucket Pipelines, Azure
/// Pipelines, Jenkins (Branch API), Buildkite, Drone, Woodpecker, AppVeyor: *predefined variables*.
const VARIABLES: [(&str, bool); 11] = [
    ("GITHUB_BASE_REF", false),
    // GitLab sets this in merged results pipelines, in which HEAD contains the target branch.
    ("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", true),
    ("CI_MERGE_REQUEST_DIFF_BASE_SHA", true),
    ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", false),
    ("BITBUCKET_PR_DESTINATION_BRANCH", false),
    ("SYSTEM_PULLREQUEST_TARGETBRANCH", false),
    ("CHANGE_TARGET", false),
    ("BUILDKITE_PULL_REQUEST_BASE_BRANCH", false),
    ("CI_COMMIT_TARGET_BRANCH", false),
    ("DRONE_TARGET_BRANCH", false),
    ("APPVEYOR_PULL_REQUEST_BASE_BRANCH", false),
];

/// Returns the base that the CI service specifies. Ignores empty variables, because CI services set
/// them in builds without a pull request.
pub fn base_from_environment(variable: impl Fn(&str) -> Option<String>) -> Option<Base> {
    VARIABLES.into_iter().find_map(|(name, is_commit)| {
        let value = variable(name).filter(|value| !value.trim().is_empty())?;
        let value = value.trim();
        Some(Base {
            name: value
                .strip_prefix("refs/heads/")
                .unwrap_or(value)
                .to_owned(),
            is_commit,
            source: BaseSource::Variable(name),
        })
    })
}

impl Base {
    /// Returns the revisions that may be the base, in the order in which to try them. CI services
    /// fetch a remote branch without creating a local branch.
    pub fn candidates(&self) -> Vec<String> {
        if self.is_commit {
            return vec![self.name.clone()];
        }
        let remote = format!("origin/{}", self.name);
        match self.source {
            BaseSource::Variable(_) => vec![remote, self.name.clone()],
            BaseSource::Option | BaseSource::File => vec![self.name.clone(), remote],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_service_names_its_base() {
        let base = |set: &[(&str, &str)]| {
            let value = |name: &str| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            base_from_environment(value).map(|base| base.candidates())
        };
        let main = Some(vec!["origin/main".to_owned(), "main".to_owned()]);
        assert_eq!(base(&[("GITHUB_BASE_REF", "main")]), main);
        let azure = [("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main")];
        assert_eq!(base(&azure), main);
        let gitlab = [
            ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
            ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "0123abc"),
        ];
        assert_eq!(base(&gitlab), Some(vec!["0123abc".to_owned()]));
        let mut merged = vec![("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", "4567def")];
        merged.extend(gitlab);
        assert_eq!(base(&merged), Some(vec!["4567def".to_owned()]));
        // The variable is empty in other merge request pipelines.
        merged[0].1 = "";
        assert_eq!(base(&merged), Some(vec!["0123abc".to_owned()]));
        // GitHub sets the variable in all builds, but its value is empty without a pull request.
        assert_eq!(base(&[("GITHUB_BASE_REF", "")]), None);
    }
}
