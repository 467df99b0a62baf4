--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.HTTP.Forms is

   Form_Type : constant String := "application/x-www-form-urlencoded";

   --  Checks Content-Type, and ignores its parameters: clients add a charset, which has no meaning
   --  here

   function Is_Form (Request : HTTP.Request) return Boolean is
      Kind : Span;
   begin
      for Line of Request.Lines (1 .. Request.Line_Count) loop
         if Same (Request.Bytes (Line.Name.First .. Line.Name.Last), "content-type") then
            Kind := (Line.Value.First, Line.Value.First - 1);
            while Kind.Last < Line.Value.Last
              and then Request.Bytes (Kind.Last + 1) not in ';' | ' ' | ASCII.HT
            loop
               Kind.Last := Kind.Last + 1;
            end loop;
            return Same (Request.Bytes (Kind.First .. Kind.Last), Form_Type);
         end if;
      end loop;
      return False;
   end Is_Form;

   --  Decodes and appends Text. Sets Fits to False if there is not enough room.

   procedure Take (Self : in out Form; Text : String; Place : out Span; Fits : out Boolean) is
      Next : Positive := Text'First;
   begin
      Place := (Self.Last + 1, Self.Last);
      Fits  := True;
      while Next <= Text'Last loop
         Fits := Self.Last < Self.Capacity;
         exit when not Fits;
         Self.Last := Self.Last + 1;
         Take_Decoded (Text, Next, Self.Text (Self.Last), Plus_Is_Space => True);
      end loop;
      Place.Last := Self.Last;
   end Take;

   --  Parses "name=value" or "name"

   procedure Take_Field (Self : in out Form; Text : String; Result : out Outcome) is
      Sign  : Natural := Text'First;
      Field : Form_Field;
      Fits  : Boolean;
   begin
      if Self.Count = Self.Max_Fields then
         Result := Too_Many_Fields;
         return;
      end if;
      while Sign <= Text'Last and then Text (Sign) /= '=' loop
         Sign := Sign + 1;
      end loop;
      Take (Self, Text (Text'First .. Sign - 1), Field.Name, Fits);
      if Fits then
         Take (Self, Text (Sign + 1 .. Text'Last), Field.Value, Fits);
      end if;
      Result := (if Fits then Complete else Too_Long);
      if Fits then
         Self.Count := Self.Count + 1;
         Self.Fields (Self.Count) := Field;
      end if;
   end Take_Field;

   procedure Read_Text (Self : in out Form; Text : String; Result : out Outcome) is
      First : Positive := Text'First;
      Last  : Natural;
   begin
      Self.Count := 0;
      Self.Last  := 0;
      Result     := Complete;
      while Result = Complete and then First <= Text'Last loop
         Last := First - 1;
         while Last < Text'Last and then Text (Last + 1) /= '&' loop
            Last := Last + 1;
         end loop;
         if Last >= First then
            Take_Field (Self, Text (First .. Last), Result);
         end if;
         First := Last + 2;
      end loop;
      if Result /= Complete then
         Self.Count := 0;
      end if;
   end Read_Text;

   procedure Read (Self : in out Form; Request : HTTP.Request; Result : out Outcome) is
   begin
      if Is_Form (Request) then
         Self.Read_Text
           (Request.Bytes (Request.State.Header_Last + 1 .. Request.State.Content_Last), Result);
      else
         Self.Count := 0;
         Result     := Not_A_Form;
      end if;
   end Read;

   function Index_Of (Self : Form; Name : String) return Natural is
   begin
      for K in 1 .. Self.Count loop
         if Self.Name (K) = Name then
            return K;
         end if;
      end loop;
      return 0;
   end Index_Of;

   function Has (Self : Form; Name : String) return Boolean is
     (Index_Of (Self, Name) > 0);

   function Value (Self : Form; Name : String; Default : String := "") return String is
      Index : constant Natural := Index_Of (Self, Name);
   begin
      return (if Index = 0 then Default else Self.Value (Index));
   end Value;

end Appserver.HTTP.Forms;
