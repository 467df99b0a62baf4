--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Strings.Unbounded;

package body Parsed is

   use Ada.Strings.Unbounded;

   function Image (Request : HTTP.Request; Content : String) return String is
     (Request.Method'Image
      & (if Request.Is_Head then " (HEAD) " else " ")
      & Request.Path & '?' & Request.Query
      & '|' & Request.Host
      & '|' & Content
      & (if Parsing.Is_Last (Request) then "|last" else "")
      & (if Parsing.Is_Old (Request) then "|old" else "")
      & ASCII.LF);

   function Outcome
     (Bytes  : String;
      Limits : Parsing.Limits := (others => <>);
      Cut    : not null Cutting := Uncut'Access) return String
   is
      Builder : aliased Response_Builder (1);
      Request : HTTP.Request (Limits.Header + Limits.Content + Parsing.Slack, Builder'Access);
      Result  : Parsing.Outcome := Parsing.Incomplete;
      Status  : Status_Code;
      Text    : Unbounded_String;
      Next    : Positive := Bytes'First;
      Size    : Natural;

      use type Parsing.Outcome;
   begin
      Parsing.Clear (Request);
      while Next <= Bytes'Last and then Result /= Parsing.Refused loop
         Size := Natural'Min (Cut (Bytes'Last - Next + 1), Parsing.Available (Request));
         Parsing.Add (Request, Bytes (Next .. Next + Size - 1));
         Next := Next + Size;
         loop
            Parsing.Parse (Request, Limits, Result, Status);
            exit when Result /= Parsing.Complete;
            Append (Text, Image (Request, Request.Content));
            Parsing.Next (Request);
         end loop;
      end loop;
      case Result is
         when Parsing.Refused =>
            Append (Text, "refused" & Status'Image);
         when others =>
            Append (Text, (if Parsing.Is_Empty (Request) then "all" else "incomplete"));
      end case;
      return To_String (Text);
   end Outcome;

   --  Removes the content of a request that was not rejected, up to its end or as far as it has
   --  arrived

   procedure Stream
     (Request       : in out HTTP.Request;
      Limits        : Parsing.Limits;
      Header        : in out Unbounded_String;
      Content       : in out Unbounded_String;
      Result        : in out Parsing.Outcome;
      Status        : in out Status_Code)
   is
      use type Parsing.Outcome;
   begin
      if Result = Parsing.Has_Header then
         if Parsing.Announced (Request) > Byte_Count (Limits.Content) then
            Result := Parsing.Refused;
            Status := Content_Too_Large;
            return;
         end if;
         Header  := To_Unbounded_String (Parsing.Header (Request));
         Content := Null_Unbounded_String;
         Parsing.Begin_Stream (Request, Byte_Count (Limits.Content));
      end if;
      Parsing.Parse_Stream (Request, Result, Status);
      if Result /= Parsing.Refused then
         Append (Content, Parsing.Streamed (Request));
         Parsing.Drop_Streamed (Request);
      end if;
      if Result = Parsing.Complete then
         Parsing.End_Stream (Request, To_String (Header));
         Header := Null_Unbounded_String;
         Parsing.Parse (Request, Limits, Result, Status, Asks => True);
      end if;
   end Stream;

   function Streamed_Outcome
     (Bytes  : String;
      Limits : Parsing.Limits := (others => <>);
      Cut    : not null Cutting := Uncut'Access) return String
   is
      Builder : aliased Response_Builder (1);
      Request : HTTP.Request
        (2 * Limits.Header + Limits.Content + Parsing.Slack, Builder'Access);
      Header  : Unbounded_String;
      Content : Unbounded_String;
      Result  : Parsing.Outcome := Parsing.Incomplete;
      Status  : Status_Code;
      Text    : Unbounded_String;
      Next    : Positive := Bytes'First;
      Size    : Natural;

      use type Parsing.Outcome;
   begin
      Parsing.Clear (Request);
      while Next <= Bytes'Last and then Result /= Parsing.Refused loop
         Size := Natural'Min
           (Cut (Bytes'Last - Next + 1), Parsing.Available (Request) - Length (Header));
         Parsing.Add (Request, Bytes (Next .. Next + Size - 1));
         Next := Next + Size;
         loop
            if Length (Header) = 0 then
               Content := Null_Unbounded_String;
               Parsing.Parse (Request, Limits, Result, Status, Asks => True);
            end if;
            if Result = Parsing.Has_Header or else Length (Header) > 0 then
               Stream (Request, Limits, Header, Content, Result, Status);
            end if;
            exit when Result /= Parsing.Complete;
            Append (Text, Image (Request, To_String (Content)));
            Parsing.Next (Request);
         end loop;
      end loop;
      Append
        (Text,
         (if Result = Parsing.Refused then "refused" & Status'Image
          elsif Parsing.Is_Empty (Request) and then Length (Header) = 0 then "all"
          else "incomplete"));
      return To_String (Text);
   end Streamed_Outcome;

end Parsed;
