--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Strings.Unbounded;
with Appserver.HTTP.Dates;
with Appserver.HTTP.Contexts;
with Appserver.HTTP.Linux;
with Appserver.HTTP.Parsing;

package body Appserver.HTTP.Trials is

   use Ada.Strings.Unbounded;

   Limits : constant Parsing.Limits := (others => <>);

   procedure Take_Pieces (Context : in out Contexts.Context; Into : in out Unbounded_String) is
      Is_Cut : Boolean := False;
   begin
      while Context.Tail.Source /= null and then not Is_Cut loop
         Context.First := 1;
         Context.Last  := 0;
         Contexts.Put_Piece (Context, Report => null, Is_Cut => Is_Cut);
         Append (Into, Context.Output (Context.First .. Context.Last));
      end loop;
   end Take_Pieces;

   procedure Take_Output (Context : in out Contexts.Context; Into : in out Unbounded_String) is
   begin
      Append (Into, Context.Output (Context.First .. Context.Last));
      Take_Pieces (Context, Into);
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

   procedure Put_Handler_Response
     (Context  : in out Contexts.Context;
      Handle   : Handler;
      Service  : Services.Service_Reference;
      Receiver : Services.Receiver_Reference;
      Date     : Dates.Date_Text)
   is
      Response : constant HTTP.Response :=
        Contexts.Handler_Response (Handle, Service, Receiver, Context, Report => null);
   begin
      Contexts.Put_Response
        (Context, Response, Date,
         Closes => Parsing.Is_Last (Context.Request)
                   or else Contexts.Ends_With_Connection (Context, Response));
   end Put_Handler_Response;

   --  Passes the content to the receiver. Result has the same meaning as in Parse.

   procedure Receive
     (Context  : in out Contexts.Context;
      Receiver : not null Services.Receiver_Reference;
      Limit    : Byte_Count;
      Result   : in out Parsing.Outcome;
      Status   : in out Status_Code)
   is
      use type Contexts.Delivery;
      use type Parsing.Outcome;

      Header    : constant String := Parsing.Header (Context.Request);
      Delivered : Contexts.Delivery := Contexts.Is_Wanted;
   begin
      if Parsing.Announced (Context.Request) > Limit then
         Result := Parsing.Refused;
         Status := Content_Too_Large;
         return;
      end if;
      Parsing.Begin_Stream (Context.Request, Limit);
      Parsing.Parse_Stream (Context.Request, Result, Status);
      if Result /= Parsing.Refused and then Parsing.Streamed_Last (Context.Request) > 0 then
         Contexts.Deliver (Context, Receiver, Report => null, Result => Delivered);
      end if;
      if Delivered = Contexts.Has_Failed then
         Result := Parsing.Refused;
         Status := Internal_Error;
      elsif Result = Parsing.Complete or else Delivered = Contexts.Is_Enough then
         declare
            Is_Whole : constant Boolean := Result = Parsing.Complete;
         begin
            Parsing.End_Stream (Context.Request, Header);
            Parsing.Parse (Context.Request, Limits, Result, Status);
            Context.Request.Is_Last := Context.Request.Is_Last or else not Is_Whole;
         end;
      end if;
   end Receive;

   function Responses
     (Handle  : Handler;
      Service : Services.Service_Reference;
      Bytes   : String;
      Client  : IP_Addresses.Address) return String
   is
      use type Services.Service_Reference;

      Asks    : constant Boolean :=
        Service /= null and then Service.all in Services.Content_Service'Class;
      Date    : constant Dates.Date_Text := Dates.Image (0);
      Builder : aliased Response_Builder (65_536);
      Context : Contexts.Context
        (Limits.Header + Limits.Content + Parsing.Slack,
         Builder.Capacity + Contexts.Max_Header_Length, Builder'Access, 0);
      Text     : Unbounded_String;
      Receiver : Services.Receiver_Reference := null;
      Policy   : Services.Content_Policy;
      Result   : Parsing.Outcome;
      Status   : Status_Code;

      use type Parsing.Outcome;
      use type Services.Policy_Kind;
   begin
      Context.Request.Client := Client;
      Parsing.Add (Context.Request, Bytes);
      loop
         Parsing.Parse (Context.Request, Limits, Result, Status, Asks);
         if Result = Parsing.Has_Header then
            Policy := Contexts.Policy_Of (Service, Context, Report => null);
            if Services.Kind_Of (Policy) = Services.Stream then
               Receiver := Services.Receiver_Of (Policy);
               Receive (Context, Receiver, Services.Limit_Of (Policy), Result, Status);
            end if;
         end if;
         case Result is
            when Parsing.Incomplete =>
               exit;
            when Parsing.Has_Header =>
               if Services.Kind_Of (Policy) = Services.Reject then
                  Contexts.Put_Response
                    (Context, Services.Response_Of (Policy), Date, Closes => True);
                  Take_Output (Context, Text);
                  exit;
               end if;
               Parsing.Note_Buffered (Context.Request, Services.Limit_Of (Policy));
               Context.Request.State.Passed := Filter_Marks (Services.Passed_By (Policy));
            when Parsing.Refused =>
               Contexts.Put_Refusal (Context, Status, Date);
               Take_Output (Context, Text);
               exit;
            when Parsing.Complete =>
               if Parsing.Is_For_Server (Context.Request) then
                  Contexts.Put_Server_Response (Context, Date, Parsing.Is_Last (Context.Request));
               else
                  Put_Handler_Response (Context, Handle, Service, Receiver, Date);
                  Contexts.Close (Receiver);
               end if;
               Take_Output (Context, Text);
               exit when Parsing.Is_Last (Context.Request);
               Parsing.Next (Context.Request);
         end case;
      end loop;
      Contexts.Close (Receiver);
      return To_String (Text);
   end Responses;

   function Responses
     (Handle : Handler;
      Bytes  : String;
      Client : IP_Addresses.Address := IP_Addresses.No_Address) return String is
     (Responses (Handle, null, Bytes, Client));

   function Responses
     (Service : not null Services.Service_Reference;
      Bytes   : String;
      Client  : IP_Addresses.Address := IP_Addresses.No_Address) return String is
     (Responses (Services.Not_Here'Access, Service, Bytes, Client));

end Appserver.HTTP.Trials;
