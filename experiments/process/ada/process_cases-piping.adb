--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Fixed;
with Ada.Strings.Unbounded;
with Benchlab.Kernel;

package body Process_Cases.Piping is

   use Ada.Streams;
   use Ada.Strings.Unbounded;

   LF : constant Character := Character'Val (10);

   procedure Must_Be (Is_Equal : Boolean) is
   begin
      if not Is_Equal then
         raise Output_Error with "the output differs from the expected output";
      end if;
   end Must_Be;

   -------------
   -- Content --
   -------------

   --  Concatenates the inputs, as eight bytes each, in little-endian order

   overriding procedure Prepare
     (Self : in out Content_Case; Arguments : Fields.Field_List; Inputs : Sequence)
   is
      Size : constant Positive := Positive (Arguments.Number ("bytes", 1, 2 ** 24));
   begin
      Self.Content.Allocate (Size);
      for Index in 0 .. Size - 1 loop
         Self.Content.Bytes (Index + 1) :=
           Character'Val
             (Interfaces.Shift_Right
                (Inputs (Input_Index'Mod (Index / 8)), 8 * (Index mod 8)) and 16#FF#);
      end loop;
      Self.Outcome := Hash (Self.Content.Bytes.all);
   end Prepare;

   ----------
   -- Read --
   ----------

   overriding procedure Prepare
     (Self : in out Read_Case; Arguments : Fields.Field_List; Inputs : Sequence) is
   begin
      Content_Case (Self).Prepare (Arguments, Inputs);
      Self.Received.Allocate (Self.Content.Bytes'Length + 1);
      Stream_IO.Create (Self.File);
      String'Write (Stream_IO.Stream (Self.File), Self.Content.Bytes.all);
      Stream_IO.Flush (Self.File);
   end Prepare;

   overriding procedure Operate (Self : in out Read_Case; Check : in out Check_Value) is
      use type Kernel.Nanoseconds;
      Before   : constant Kernel.Nanoseconds := Kernel.Monotonic_Time;
      Received : String renames Self.Received.Bytes.all;
      Last     : Natural;
      Child    : Process;
      Status   : Exit_Status;
   begin
      Child.Start ("/bin/cat", [Stream_IO.Name (Self.File)], Writing);
      Child.Read (Received, Last);
      Self.Measure (Fields.Metric_Value (Kernel.Monotonic_Time - Before));
      while Last < Received'Last loop
         declare
            First : constant Positive := Last + 1;
         begin
            Child.Read (Received (First .. Received'Last), Last);
            exit when Last < First;
         end;
      end loop;
      Child.Wait (Status);
      Must_Be (Received (1 .. Last) = Self.Content.Bytes.all);
      Check := Check + Self.Outcome + Number (Status);
   end Operate;

   overriding procedure Close (Self : in out Read_Case) is
   begin
      Stream_IO.Close (Self.File);
   end Close;

   --------------
   -- Exchange --
   --------------

   overriding procedure Operate (Self : in out Exchange_Case; Check : in out Check_Value) is
      Result : constant Outcome :=
        Run ("/bin/cat", Input => Self.Content.Bytes.all, Options => Filter);
   begin
      Must_Be (Result.Output = Self.Content.Bytes.all);
      Check := Check + Self.Outcome + Number (Result.Status);
   end Operate;

   ---------------------
   -- Write_Then_Read --
   ---------------------

   overriding procedure Operate
     (Self : in out Write_Then_Read_Case; Check : in out Check_Value)
   is
      Limit  : constant Duration := 0.05;
      Child  : Process;
      Status : Exit_Status;
   begin
      Child.Start ("/bin/cat", Options => Filter);
      begin
         Child.Write (Self.Content.Bytes.all, Timeout => Limit);
         Child.Close_Input;
         Must_Be (Child.Read_All (Timeout => Limit) = Self.Content.Bytes.all);
      exception
         when Timeout_Error =>
            Self.Measure (100.0);
            Child.Kill;
      end;
      Child.Wait (Status);
      Check := Check + 1;
   end Operate;

   --------------
   -- Converse --
   --------------

   overriding procedure Prepare
     (Self : in out Converse_Case; Arguments : Fields.Field_List; Inputs : Sequence)
   is
      use Ada.Strings;
      Text : Unbounded_String;
   begin
      for Index in 0 .. Natural (Arguments.Number ("lines", 1, 10_000)) - 1 loop
         Self.Lines.Append
           (Fixed.Trim (Inputs (Input_Index'Mod (Index))'Image, Left) & LF);
         Append (Text, Self.Lines.Last_Element);
      end loop;
      Self.Outcome := Hash (To_String (Text));
   end Prepare;

   overriding procedure Operate (Self : in out Converse_Case; Check : in out Check_Value) is
      Child  : Process;
      Status : Exit_Status;
   begin
      Child.Start ("/bin/cat", Options => Filter);
      for Line of Self.Lines loop
         Child.Write (Line);
         Must_Be (Child.Get_Line & LF = Line);
      end loop;
      Child.Close_Input;
      Child.Wait (Status);
      Check := Check + Self.Outcome + Number (Status);
   end Operate;

end Process_Cases.Piping;
