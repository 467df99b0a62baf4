--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Reads JSON texts and writes their contents, which json_reference.py compares. A text is sent as
--  a line with its length, followed by its bytes. The output has the same format, or is a line
--  "malformed POSITION PROBLEM" for a malformed text.

with Ada.Text_IO;
with Ada.Text_IO.Text_Streams;
with Appserver.JSON.Readers;
with Appserver.JSON.Writers;
with Appserver.Text_Sinks;

procedure JSON_Copy is

   use Ada.Text_IO;
   use Appserver;
   use Appserver.JSON.Readers;

   Max : constant := 1_000_000;

   Buffer : aliased Text_Sinks.Text_Buffer (6 * Max);
   Text   : String (1 .. Max);

   procedure Copy_Number
     (Source : String; JSON_In : in out Reader; JSON_Out : in out JSON.Writers.Writer) is
   begin
      if (for all C of JSON_In.Raw (Source) => C in '-' | '0' .. '9') then
         JSON_Out.Write (JSON_In.Integer_Value (Source, Integer_64'First, Integer_64'Last));
      else
         JSON_Out.Write (JSON_In.Float_Value (Source));
      end if;
   end Copy_Number;

   procedure Copy
     (Source : String; JSON_In : in out Reader; JSON_Out : in out JSON.Writers.Writer)
   is
      Last : Natural;
   begin
      loop
         JSON_In.Next (Source);
         case JSON_In.Kind is
            when Object_Start     => JSON_Out.Start_Object;
            when Object_End       => JSON_Out.End_Object;
            when Array_Start      => JSON_Out.Start_Array;
            when Array_End        => JSON_Out.End_Array;
            when Member_Name      =>
               JSON_In.Read_Text (Source, Text, Last);
               JSON_Out.Write_Name (Text (1 .. Last));
            when Text_Value       =>
               JSON_In.Read_Text (Source, Text, Last);
               JSON_Out.Write (Text (1 .. Last));
            when Number_Value     => Copy_Number (Source, JSON_In, JSON_Out);
            when True_Value       => JSON_Out.Write (True);
            when False_Value      => JSON_Out.Write (False);
            when Null_Value       => JSON_Out.Write_Null;
            when Finish | Failure => exit;
            when Nothing          => raise Program_Error;
         end case;
      end loop;
   end Copy;

   procedure Respond (Source : String) is
      JSON_In  : Reader;
      JSON_Out : JSON.Writers.Writer (Buffer'Access);
   begin
      Buffer.Clear;
      Copy (Source, JSON_In, JSON_Out);
      if JSON_In.Has_Failed then
         Put_Line ("malformed" & JSON_In.Position'Image & " " & JSON_In.Fault'Image);
      else
         Put_Line (Buffer.Length'Image);
         String'Write (Text_Streams.Stream (Standard_Output), Buffer.Content);
      end if;
      Flush;
   end Respond;

begin
   while not End_Of_File loop
      declare
         Length : constant Natural := Natural'Value (Get_Line);
         Source : String (1 .. Length);
      begin
         String'Read (Text_Streams.Stream (Standard_Input), Source);
         Respond (Source);
      end;
   end loop;
end JSON_Copy;
