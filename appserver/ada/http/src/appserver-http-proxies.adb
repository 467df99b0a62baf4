--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.HTTP.Parsing;

package body Appserver.HTTP.Proxies is

   use IP_Addresses;

   --------------
   -- Elements --
   --------------

   --  A position in the elements of a field's lines, which are read from the last to the first.
   --  Line is 0 at the end.

   type Place is record
      Line : Natural;
      Last : Natural := 0;
      --  The last index of the rest of the line
   end record;

   No_Element : constant Span := (1, 0);

   function Is_Line (Request : HTTP.Request; Line : Positive; Name : String) return Boolean is
     (Same
        (Request.Bytes (Request.Lines (Line).Name.First .. Request.Lines (Line).Name.Last), Name));

   procedure Find_Line (Request : HTTP.Request; Name : String; Next : in out Place) is
   begin
      while Next.Line > 0 and then not Is_Line (Request, Next.Line, Name) loop
         Next.Line := Next.Line - 1;
      end loop;
      if Next.Line > 0 then
         Next.Last := Request.Lines (Next.Line).Value.Last;
      end if;
   end Find_Line;

   function Last_Place (Request : HTTP.Request; Name : String) return Place is
   begin
      return Result : Place := (Line => Request.Line_Count, Last => 0) do
         Find_Line (Request, Name, Result);
      end return;
   end Last_Place;

   --  Returns True if the quotation mark at Index is escaped, like \" in a quoted string

   function Is_Escaped (Text : String; Index, First : Positive) return Boolean is
      Before : Natural := Index;
   begin
      while Before > First and then Text (Before - 1) = '\' loop
         Before := Before - 1;
      end loop;
      return (Index - Before) mod 2 = 1;
   end Is_Escaped;

   --  Takes the last element. Quoted strings are read from their end, so that an unclosed quotation
   --  mark from a client cannot hide an element that a proxy has appended.

   procedure Take_Last
     (Request : HTTP.Request; Name : String; Next : in out Place; Element : out Span)
   is
      First  : constant Positive := Request.Lines (Next.Line).Value.First;
      Text   : String renames Request.Bytes;
      Comma  : Natural := Next.Last;
      Quoted : Boolean := False;
   begin
      while Comma >= First loop
         if Text (Comma) = '"' then
            Quoted := not Quoted or else Is_Escaped (Text, Comma, First);
         end if;
         exit when Text (Comma) = ',' and then not Quoted;
         Comma := Comma - 1;
      end loop;
      Element := Trimmed (Text, (Comma + 1, Next.Last));
      if Comma >= First then
         Next.Last := Comma - 1;
      else
         Next.Line := Next.Line - 1;
         Find_Line (Request, Name, Next);
      end if;
   end Take_Last;

   ---------------
   -- Forwarded --
   ---------------

   --  Returns the value of a parameter of an element, without quotation marks. Returns an empty
   --  span if the element has the parameter twice, or is malformed (RFC 7239, 4).

   function Parameter (Text : String; Element : Span; Name : String) return Span is
      Result : Span     := No_Element;
      Next   : Positive := Element.First;
      Equals : Natural;
      Last   : Natural;
      Value  : Span;
      Pair   : Span;
      Found  : Boolean  := False;
   begin
      while Next <= Element.Last loop
         Equals := Next;
         while Equals <= Element.Last and then Text (Equals) in Token_Character | ' ' | ASCII.HT
         loop
            Equals := Equals + 1;
         end loop;
         if Equals >= Element.Last or else Text (Equals) /= '=' then
            return No_Element;
         end if;
         Last := Equals + 1;
         if Text (Last) = '"' then
            Value := (Last + 1, Last);
            while Value.Last < Element.Last and then Text (Value.Last + 1) not in '"' | '\' loop
               Value.Last := Value.Last + 1;
            end loop;
            if Value.Last >= Element.Last or else Text (Value.Last + 1) /= '"' then
               return No_Element;
            end if;
            Last := Value.Last + 2;
         else
            while Last <= Element.Last and then Text (Last) in Token_Character | ':' | '[' | ']'
            loop
               Last := Last + 1;
            end loop;
            Value := (Equals + 1, Last - 1);
         end if;
         Pair := Trimmed (Text, (Next, Equals - 1));
         if Same (Text (Pair.First .. Pair.Last), Name) then
            if Found then
               return No_Element;
            end if;
            Found  := True;
            Result := Value;
         end if;
         while Last <= Element.Last and then Text (Last) in ' ' | ASCII.HT loop
            Last := Last + 1;
         end loop;
         if Last <= Element.Last and then Text (Last) /= ';' then
            return No_Element;
         end if;
         Next := Last + 1;
      end loop;
      return Result;
   end Parameter;

   --  Returns the address of a node, with or without a port. IPv6 addresses may be in brackets.
   --  Before a port, the brackets are required.

   function Address_Part (Text : String; Node : Span) return Span is
      Last : Natural := Node.First;

      function Is_Port (First : Positive) return Boolean is
        (First > Node.Last
         or else (Text (First) = ':'
                  and then Node.Last - First in 1 .. 5
                  and then (for all C of Text (First + 1 .. Node.Last) => C in '0' .. '9')));

   begin
      if Length (Node) = 0 then
         return No_Element;
      elsif Text (Node.First) = '[' then
         while Last <= Node.Last and then Text (Last) /= ']' loop
            Last := Last + 1;
         end loop;
         return
           (if Last <= Node.Last and then Is_Port (Last + 1)
              and then (for some C of Text (Node.First .. Last) => C = ':')
            then (Node.First + 1, Last - 1) else No_Element);
      elsif Is_Address (Text (Node.First .. Node.Last)) then
         return Node;
      end if;
      while Last <= Node.Last and then Text (Last) /= ':' loop
         Last := Last + 1;
      end loop;
      return (if Is_Port (Last) then (Node.First, Last - 1) else No_Element);
   end Address_Part;

   -----------------
   -- The element --
   -----------------

   For_Field   : constant String := "x-forwarded-for";
   Proto_Field : constant String := "x-forwarded-proto";
   Host_Field  : constant String := "x-forwarded-host";
   New_Field   : constant String := "forwarded";

   type Finding is record
      Client  : Address;
      Element : Span    := No_Element;
      --  The element that contains the client; none if the client is the peer of the connection
      Number  : Natural := 0;
      --  The number of this element, from the right
   end record;

   function Found
     (Request : HTTP.Request; Trusted : Block_List; Fields : Field_Family) return Finding
   is
      Text    : String renames Request.Bytes;
      Name    : constant String := (if Fields = Forwarded then New_Field else For_Field);
      Next    : Place;
      Element : Span;
      Node    : Span;
   begin
      return Result : Finding := (Client => Request.Client, others => <>) do
         if Contains (Trusted, Result.Client) then
            Next := Last_Place (Request, Name);
            while Next.Line > 0 loop
               Take_Last (Request, Name, Next, Element);
               Node := Address_Part
                 (Text, (if Fields = Forwarded then Parameter (Text, Element, "for") else Element));
               exit when not Is_Address (Text (Node.First .. Node.Last));
               Result :=
                 (Value (Text (Node.First .. Node.Last)), Element, Result.Number + 1);
               exit when not Contains (Trusted, Result.Client);
            end loop;
         end if;
      end return;
   end Found;

   --  Returns the element with this number in another list; the first element if the list is
   --  shorter

   function Element_At (Request : HTTP.Request; Name : String; Number : Natural) return Span is
      Next   : Place := Last_Place (Request, Name);
      Result : Span  := No_Element;
   begin
      for K in 1 .. Number loop
         exit when Next.Line = 0;
         Take_Last (Request, Name, Next, Result);
      end loop;
      return Result;
   end Element_At;

   function Reported_Value
     (Request   : HTTP.Request;
      Finding   : Proxies.Finding;
      Fields    : Field_Family;
      Name      : String;
      Old_Field : String) return Span is
     (case Fields is
         when Forwarded   => Parameter (Request.Bytes, Finding.Element, Name),
         when X_Forwarded => Element_At (Request, Old_Field, Finding.Number));

   function Client_Address
     (Request : HTTP.Request;
      Trusted : IP_Addresses.Block_List;
      Fields  : Field_Family) return IP_Addresses.Address is
     (Found (Request, Trusted, Fields).Client);

   function Scheme
     (Request : HTTP.Request;
      Trusted : IP_Addresses.Block_List;
      Fields  : Field_Family) return Scheme_Kind
   is
      Finding : constant Proxies.Finding := Found (Request, Trusted, Fields);
      Word    : constant Span :=
        Reported_Value (Request, Finding, Fields, "proto", Proto_Field);
   begin
      return
        (if Finding.Number = 0 then
           (if Request.Is_Secure then HTTPS_Scheme else HTTP_Scheme)
         elsif Same (Request.Bytes (Word.First .. Word.Last), "https") then HTTPS_Scheme
         else HTTP_Scheme);
   end Scheme;

   function Host
     (Request : HTTP.Request;
      Trusted : IP_Addresses.Block_List;
      Fields  : Field_Family) return String
   is
      Word : constant Span :=
        Reported_Value
          (Request, Found (Request, Trusted, Fields), Fields, "host", Host_Field);
   begin
      return
        (if Length (Word) > 0
           and then Parsing.Is_Authority (Request.Bytes (Word.First .. Word.Last))
         then Request.Bytes (Word.First .. Word.Last)
         else Request.Host);
   end Host;

end Appserver.HTTP.Proxies;
