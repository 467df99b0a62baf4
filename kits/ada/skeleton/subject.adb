--  The subject in Ada. benchlab starts it and sends it commands.

with Benchlab.Subjects;
with Hashes;

procedure Subject is
begin
   Benchlab.Subjects.Serve
     (Name => "{{subject}}", Library => "FNV-1a", New_Case => Hashes.New_Case'Access);
end Subject;
