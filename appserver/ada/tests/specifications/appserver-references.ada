with Appserver.References;

procedure Referring is

   type Settings is record
      Port    : Positive := 80;
      Workers : Positive := 8;
   end record;

   procedure Serve (Port : Positive) is null;

   @1

   use Settings_References;
begin
   @2
   @3
end Referring;
