--  SPDX-License-Identifier: Apache-2.0

with Benchlab.Lines;
with Benchlab.Sessions;
with Interfaces.C_Streams;

package body Benchlab.Subjects is

   use Interfaces.C_Streams;

   procedure Serve (Name, Library : String; New_Case : Cases.Case_Maker) is
      Session : Sessions.Session (New_Case);
      Input   : Lines.Line_Reader (Lines.Standard_Input);
      Line    : Lines.Line_Buffer;
      Length  : Lines.Line_Length;
      Result  : Lines.Outcome;
   begin
      Lines.Write (stdout, Sessions.Hello (Name, Library));
      while not Session.Is_Over loop
         if Lines.Is_Empty (Input) then
            Session.Wait (Lines.Standard_Input);
         end if;
         Lines.Read (Input, Line, Length, Result);
         case Result is
            when Lines.End_Of_Input =>
               exit;
            when Lines.Too_Long =>
               Lines.Write
                 (stdout,
                  Sessions.Error_Reply
                    (Sessions.Usage, "a line is longer than" & Lines.Max_Length'Image & " bytes"));
            when Lines.Complete =>
               declare
                  Reply : constant String := Session.Answer (Line (1 .. Length));
               begin
                  if not Session.Is_Over then
                     Lines.Write (stdout, Reply);
                  end if;
               end;
         end case;
      end loop;
   end Serve;

end Benchlab.Subjects;
