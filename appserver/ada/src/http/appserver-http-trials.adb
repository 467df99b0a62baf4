--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Unbounded;
with Appserver.HTTP.Dates;
with Appserver.HTTP.Contexts;
with Appserver.HTTP.Linux;
with Appserver.HTTP.Parsing;

package body Appserver.HTTP.Trials is

   use Ada.Strings.Unbounded;

   Limits : constant Parsing.Limits := (others => <>);

   procedure Take_Output (Context : in out Contexts.Context; Into : in out Unbounded_String) is
   begin
      Append (Into, Context.Output (Context.First .. Context.Last));
      if Context.Tail.Text /= null then
         Append (Into, Context.Tail.Text.all);
      elsif Context.Tail.File /= No_File then
         declare
            Bytes : String (1 .. Natural (Context.Tail.Length));
            Count : Natural;
         begin
            Linux.Read_File (Context.Tail.File, Context.Tail.Offset, Bytes, Count);
            Append (Into, Bytes (1 .. Count));
         end;
      end if;
      Contexts.Drop (Context.Tail);
      Context.First := 1;
      Context.Last  := 0;
   end Take_Output;

   function Answers
     (Handle  : Handler;
      Service : Services.Service_Reference;
      Bytes   : String;
      Client  : IP_Addresses.Address) return String
   is
      Date    : constant Dates.Date_Text := Dates.Image (0);
      Draft   : aliased Answer_Draft (65_536);
      Context : Contexts.Context
        (Limits.Header + Limits.Content + Parsing.Slack,
         Draft.Capacity + Contexts.Longest_Header, Draft'Access, 0);
      Text   : Unbounded_String;
      Result : Parsing.Outcome;
      Status : Status_Code;
   begin
      Context.Request.Client := Client;
      Parsing.Add (Context.Request, Bytes);
      loop
         Parsing.Parse (Context.Request, Limits, Result, Status);
         case Result is
            when Parsing.Incomplete =>
               exit;
            when Parsing.Refused =>
               Contexts.Put_Refusal (Context, Status, Date);
               Take_Output (Context, Text);
               exit;
            when Parsing.Complete =>
               if Parsing.Is_For_Server (Context.Request) then
                  Contexts.Put_Server_Answer (Context, Date, Parsing.Is_Last (Context.Request));
               else
                  Contexts.Put_Answer
                    (Context, Contexts.Called (Handle, Service, Context, Report => null), Date,
                     Parsing.Is_Last (Context.Request));
               end if;
               Take_Output (Context, Text);
               exit when Parsing.Is_Last (Context.Request);
               Parsing.Next (Context.Request);
         end case;
      end loop;
      return To_String (Text);
   end Answers;

   function Answers
     (Handle : Handler;
      Bytes  : String;
      Client : IP_Addresses.Address := IP_Addresses.No_Address) return String is
     (Answers (Handle, null, Bytes, Client));

   function Answers
     (Service : not null Services.Service_Reference;
      Bytes   : String;
      Client  : IP_Addresses.Address := IP_Addresses.No_Address) return String is
     (Answers (Services.Not_Here'Access, Service, Bytes, Client));

end Appserver.HTTP.Trials;
