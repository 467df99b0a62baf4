--  SPDX-License-Identifier: Apache-2.0
--
--  Makes calls with Appserver.Retry, to measure lost effects, duplicate effects, and the cost. The
--  package Database depends on the target.

with Benchlab.Subjects;
with Database;
with Policies;
with Retry_Cases;

procedure Retry_Subject is
begin
   Benchlab.Subjects.Serve
     (Name     => "ada" & (if Policies.Variant = "" then "" else "_" & Policies.Variant),
      Library  => Database.Library & ", Appserver.Retry 1",
      New_Case => Retry_Cases.New_Case'Access);
end Retry_Subject;
