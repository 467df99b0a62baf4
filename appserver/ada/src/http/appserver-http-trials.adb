--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Unbounded;
with Appserver.HTTP.Dates;
with Appserver.HTTP.Desks;
with Appserver.HTTP.Linux;
with Appserver.HTTP.Parsing;

package body Appserver.HTTP.Trials is

   use Ada.Strings.Unbounded;

   Limits : constant Parsing.Limits := (others => <>);

   procedure Take_Output (Desk : in out Desks.Desk; Into : in out Unbounded_String) is
   begin
      Append (Into, Desk.Output (Desk.First .. Desk.Last));
      if Desk.Tail.Text /= null then
         Append (Into, Desk.Tail.Text.all);
      elsif Desk.Tail.File /= No_File then
         declare
            Bytes : String (1 .. Natural (Desk.Tail.Length));
            Count : Natural;
         begin
            Linux.Read_File (Desk.Tail.File, Desk.Tail.Offset, Bytes, Count);
            Append (Into, Bytes (1 .. Count));
         end;
      end if;
      Desks.Drop (Desk.Tail);
      Desk.First := 1;
      Desk.Last  := 0;
   end Take_Output;

   function Answers (Handle : Handler; Bytes : String) return String is
      Date   : constant Dates.Date_Text := Dates.Image (0);
      Draft  : aliased Answer_Draft (65_536);
      Desk   : Desks.Desk
        (Limits.Header + Limits.Content + Parsing.Slack,
         Draft.Capacity + Desks.Longest_Header, Draft'Access, 0);
      Text   : Unbounded_String;
      Result : Parsing.Outcome;
      Status : Status_Code;
   begin
      Parsing.Add (Desk.Request, Bytes);
      loop
         Parsing.Parse (Desk.Request, Limits, Result, Status);
         case Result is
            when Parsing.Incomplete =>
               exit;
            when Parsing.Refused =>
               Desks.Put_Refusal (Desk, Status, Date);
               Take_Output (Desk, Text);
               exit;
            when Parsing.Complete =>
               if Parsing.Is_For_Server (Desk.Request) then
                  Desks.Put_Server_Answer (Desk, Date, Parsing.Is_Last (Desk.Request));
               else
                  Desks.Put_Answer
                    (Desk, Desks.Called (Handle, Desk, Report => null), Date,
                     Parsing.Is_Last (Desk.Request));
               end if;
               Take_Output (Desk, Text);
               exit when Parsing.Is_Last (Desk.Request);
               Parsing.Next (Desk.Request);
         end case;
      end loop;
      return To_String (Text);
   end Answers;

end Appserver.HTTP.Trials;
