with Appserver.Processes.Text;

procedure Copied_Lines is

   use Appserver.Processes;
   use Appserver.Processes.Text;

   Child : Process;
begin
   Child.Start ("ls");
   @1
      Put_Line (Child, "a line");
   end loop;
end Copied_Lines;
