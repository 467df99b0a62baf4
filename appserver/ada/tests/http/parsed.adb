--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Unbounded;

package body Parsed is

   use Ada.Strings.Unbounded;

   function Image (Request : HTTP.Request) return String is
     (Request.Method'Image
      & (if Request.Is_Head then " (HEAD) " else " ")
      & Request.Path & '?' & Request.Query
      & '|' & Request.Host
      & '|' & Request.Content
      & (if Parsing.Is_Last (Request) then "|last" else "")
      & (if Parsing.Is_Old (Request) then "|old" else "")
      & ASCII.LF);

   function Outcome
     (Bytes  : String;
      Limits : Parsing.Limits := (others => <>);
      Cut    : not null Cutting := Whole'Access) return String
   is
      Draft   : aliased Answer_Draft (1);
      Request : HTTP.Request (Limits.Header + Limits.Content + Parsing.Slack, Draft'Access);
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
            Append (Text, Image (Request));
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

end Parsed;
