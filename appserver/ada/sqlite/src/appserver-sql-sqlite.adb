--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Containers.Vectors;
with Ada.Strings.Fixed;
with Ada.Unchecked_Deallocation;
with Appserver.SQL.SQLite_States;
with Appserver.SQL.Text_Values;
with Interfaces.C.Strings;
with System.Storage_Elements;

package body Appserver.SQL.SQLite is

   use Interfaces.C;
   use SQLite_Library;
   use type System.Address;

   function Library_Version return String is (Strings.Value (SQLite_Library.libversion));

   ------------
   -- Errors --
   ------------

   --  Raises the connection's latest error. Reads the error before resetting the failed statement,
   --  since a reset may overwrite it.

   procedure Raise_Latest
     (DB : Database_Handle; Failed : Statement_Handle := No_Statement) with No_Return, No_Inline;
   procedure Raise_Latest
     (DB : Database_Handle; Failed : Statement_Handle := No_Statement)
   is
      Code    : constant Result_Code  := extended_errcode (DB);
      Message : constant UTF_8_String := Strings.Value (errmsg (DB));
      Ignored : Result_Code;
   begin
      Ignored := reset (Failed);
      Raise_Error
        (SQLite_States.State_Of (Code, Message), Integer (Code), Message, Origin => From_SQLite);
   end Raise_Latest;

   function Handle_Of (Owner : not null Connection_Reference) return Database_Handle is
     (Connection (Owner.all).Handle);

   -------------------
   -- Returned rows --
   -------------------

   --  The rows that a statement with RETURNING has returned: the values of all rows in order, and
   --  the number of the current row, from 1

   package Value_Vectors is new Ada.Containers.Vectors (Positive, Value_Handle);

   type Returned_Rows is record
      Width   : Natural := 0;
      Count   : Natural := 0;
      Current : Natural := 0;
      Values  : Value_Vectors.Vector;
   end record;

   procedure Free is new Ada.Unchecked_Deallocation (Returned_Rows, Returned_Reference);

   procedure Release (Rows : in out Returned_Reference) with No_Inline;
   procedure Release (Rows : in out Returned_Reference) is
   begin
      for Value of Rows.Values loop
         value_free (Value);
      end loop;
      Free (Rows);
   end Release;

   procedure Drop_Returned (Self : in out Statement) with Inline;
   procedure Drop_Returned (Self : in out Statement) is
   begin
      if Self.Returned /= null then
         Release (Self.Returned);
      end if;
   end Drop_Returned;

   --  Copies the current row of the handle

   procedure Keep_Row (Self : in out Statement) is
      Copy : Value_Handle;
   begin
      if Self.Returned = null then
         Self.Returned := new Returned_Rows'
           (Width => Natural (data_count (Self.Handle)), others => <>);
      end if;
      for Column in 1 .. Self.Returned.Width loop
         Self.Returned.Values.Append (No_Value);
         Copy := value_dup (column_value (Self.Handle, int (Column) - 1));
         if Copy = No_Value then
            raise Storage_Error with "cannot allocate memory for a row of SQLite";
         end if;
         Self.Returned.Values.Replace_Element (Self.Returned.Values.Last_Index, Copy);
      end loop;
      Self.Returned.Count := Self.Returned.Count + 1;
   end Keep_Row;

   function Returned_Value (Self : Statement; Column : Column_Number) return Value_Handle is
     (Self.Returned.Values ((Self.Returned.Current - 1) * Self.Returned.Width + Column));

   --  Functions that read a value of the current row, from SQLite or from the returned rows

   function Type_At (Self : Statement; Column : Column_Number) return Type_Code is
     (if Self.Returned = null then column_type (Self.Handle, int (Column) - 1)
      else value_type (Returned_Value (Self, Column)));

   function Integer_At (Self : Statement; Column : Column_Number) return Integer_64 is
     (if Self.Returned = null then column_int64 (Self.Handle, int (Column) - 1)
      else value_int64 (Returned_Value (Self, Column)));

   function Float_At (Self : Statement; Column : Column_Number) return Long_Float is
     (if Self.Returned = null then column_double (Self.Handle, int (Column) - 1)
      else value_double (Returned_Value (Self, Column)));

   function Text_At (Self : Statement; Column : Column_Number) return System.Address is
     (if Self.Returned = null then column_text (Self.Handle, int (Column) - 1)
      else value_text (Returned_Value (Self, Column)));

   function Blob_At (Self : Statement; Column : Column_Number) return System.Address is
     (if Self.Returned = null then column_blob (Self.Handle, int (Column) - 1)
      else value_blob (Returned_Value (Self, Column)));

   function Length_At (Self : Statement; Column : Column_Number) return int is
     (if Self.Returned = null then column_bytes (Self.Handle, int (Column) - 1)
      else value_bytes (Returned_Value (Self, Column)));

   ---------------
   -- Preparing --
   ---------------

   --  SQLite prepares only the first statement of a text. Rest, the remaining text, may contain
   --  only white space and comments.

   procedure Check_Rest (DB : Database_Handle; Rest : System.Address; Length : Natural) is
      Text      : String (1 .. Length) with Import, Address => Rest;
      Statement : Statement_Handle;
      Stop      : System.Address;
      Result    : constant Result_Code := prepare_v2 (DB, Rest, int (Length), Statement, Stop);
      Ignored   : Result_Code;
   begin
      if Result = OK
        and then Statement = No_Statement
        and then Ada.Strings.Fixed.Index (Text, [1 => ASCII.NUL]) = 0
      then
         return;
      end if;
      Ignored := finalize (Statement);
      Raise_Error ("42601", 0, "the text contains more than one statement");
   end Check_Rest;

   --  Prepares the Length bytes at Text, which are followed by a NUL if Terminated is True

   function Prepared
     (DB         : Database_Handle;
      Text       : System.Address;
      Length     : Natural;
      Terminated : Boolean) return Statement_Handle
   is
      use System.Storage_Elements;

      Bytes     : constant int := int (Length) + Boolean'Pos (Terminated);
      Statement : Statement_Handle;
      Stop      : System.Address;
      Ignored   : Result_Code;
      Left      : Storage_Offset;
   begin
      if prepare_v2 (DB, Text, Bytes, Statement, Stop) /= OK then
         Raise_Latest (DB);
      elsif Statement = No_Statement then
         Raise_Error ("42601", 0, "the text contains no statement");
      end if;
      Left := Storage_Offset (Length) - (Stop - Text);
      if Left > 0 then
         begin
            Check_Rest (DB, Stop, Natural (Left));
         exception
            when others =>
               Ignored := finalize (Statement);
               raise;
         end;
      end if;
      return Statement;
   end Prepared;

   --  SQLite copies a text that is not NUL-terminated to the heap. A copy on the stack is cheaper.

   Max_On_Stack : constant := 4_096;

   function Prepared (DB : Database_Handle; Text : UTF_8_String) return Statement_Handle is
   begin
      if Text'Length > Max_On_Stack then
         return Prepared (DB, Text'Address, Text'Length, Terminated => False);
      end if;
      declare
         Copy : String (1 .. Text'Length + 1);
      begin
         Copy (1 .. Text'Length) := Text;
         Copy (Copy'Last)        := ASCII.NUL;
         return Prepared (DB, Copy'Address, Text'Length, Terminated => True);
      end;
   end Prepared;

   procedure Prepare
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String) is
   begin
      Self.Close;
      Self.Handle     := Prepared (On.Handle, Text);
      Self.Parameters := Natural (bind_parameter_count (Self.Handle));
      Self.Writes     := stmt_readonly (Self.Handle) = 0;
      Self.Attach (On);
   end Prepare;

   overriding function Prepare
     (Self : in out Connection; Text : UTF_8_String) return SQL.Statement'Class is
   begin
      return Result : Statement do
         Result.Prepare (Self, Text);
      end return;
   end Prepare;

   overriding function Prepare_Client_Side
     (Self : in out Connection; Text : UTF_8_String) return SQL.Statement'Class is
     (Self.Prepare (Text));

   --  There is no error to report: a statement that writes has run to its end or has failed

   overriding procedure Close (Self : in out Statement) is
      Ignored : Result_Code;
   begin
      if Self.Is_Open then
         Self.Detach;
         Drop_Returned (Self);
         Ignored     := finalize (Self.Handle);
         Self.Handle := No_Statement;
         Self.Ended  := False;
      end if;
   end Close;

   -------------
   -- Binding --
   -------------

   --  A statement that has run to its end holds no locks, but SQLite does not allow binding values
   --  before a reset

   procedure Allow_Binding (Self : in out Statement) with Inline;
   procedure Allow_Binding (Self : in out Statement) is
   begin
      if Self.Ended then
         Self.Reset;
      end if;
   end Allow_Binding;

   procedure Check (Self : Statement; Result : Result_Code) with Inline;
   procedure Check (Self : Statement; Result : Result_Code) is
   begin
      if Result /= OK then
         Raise_Latest (Handle_Of (Self.Owner));
      end if;
   end Check;

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Integer_64) is
   begin
      Allow_Binding (Self);
      Check (Self, bind_int64 (Self.Handle, int (Parameter), Value));
   end Bind;

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Long_Float) is
   begin
      Allow_Binding (Self);
      Check (Self, bind_double (Self.Handle, int (Parameter), Value));
   end Bind;

   --  SQLite treats a null address as a null, and an empty text may have a null address

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : UTF_8_String)
   is
      Nothing : aliased constant Character := ASCII.NUL;
      Start   : constant System.Address :=
        (if Value'Length = 0 then Nothing'Address else Value'Address);
   begin
      Allow_Binding (Self);
      Check
        (Self, bind_text (Self.Handle, int (Parameter), Start, Value'Length, Transient));
   end Bind;

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Ada.Calendar.Time) is
   begin
      Self.Bind (Parameter, Text_Values.Image (Text_Values.To_Moment (Value), Decimals => 3));
   end Bind;

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Boolean) is
   begin
      Self.Bind (Parameter, Integer_64'(Boolean'Pos (Value)));
   end Bind;

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Blob)
   is
      Nothing : aliased constant Character := ASCII.NUL;
      Start   : constant System.Address :=
        (if Value'Length = 0 then Nothing'Address else Value'Address);
   begin
      Allow_Binding (Self);
      Check
        (Self, bind_blob (Self.Handle, int (Parameter), Start, Value'Length, Transient));
   end Bind;

   --  A floating-point value preserves 15 digits. A text would preserve more, but columns of a
   --  decimal type convert it, and elsewhere it is compared as text. Integers are used only for
   --  integral values with more digits, since dividing an integer by an integer would truncate.

   overriding procedure Bind_Scaled
     (Self      : in out Statement;
      Parameter : Parameter_Number;
      Value     : Integer_64;
      Scale     : Decimal_Scale)
   is
      use type Integer_64;
   begin
      if Scale = 0 then
         Self.Bind (Parameter, Value);
      elsif Text_Values.Is_Exact_Float (Value) then
         Self.Bind
           (Parameter, Text_Values.To_Float (Text_Values.Image (Value, Scale), Parameter));
      elsif Value mod 10 ** Scale = 0 then
         Self.Bind (Parameter, Value / 10 ** Scale);
      else
         Raise_Error
           ("22003", 0,
            "parameter" & Parameter'Image & " has more than 15 digits, the maximum of SQLite's"
            & " floating-point values: " & Text_Values.Image (Value, Scale));
      end if;
   end Bind_Scaled;

   overriding procedure Bind_Null (Self : in out Statement; Parameter : Parameter_Number) is
   begin
      Allow_Binding (Self);
      Check (Self, bind_null (Self.Handle, int (Parameter)));
   end Bind_Null;

   -------------
   -- Running --
   -------------

   procedure Fail (Self : in out Statement) with No_Return, No_Inline;
   procedure Fail (Self : in out Statement) is
   begin
      Self.Columns := 0;
      Raise_Latest (Handle_Of (Self.Owner), Failed => Self.Handle);
   end Fail;

   --  Runs a step of a statement or a command, with the time limit

   function Limited_Step (Owner : in out Connection; Handle : Statement_Handle) return Result_Code
     with Inline;
   function Limited_Step (Owner : in out Connection; Handle : Statement_Handle) return Result_Code
   is
      use Ada.Real_Time;
   begin
      if Owner.Step_Limit > 0.0 then
         Owner.Deadline := Clock + To_Time_Span (Owner.Step_Limit);
      end if;
      return step (Handle);
   end Limited_Step;

   --  Runs a statement that writes to its end. A statement with RETURNING changes the rows before
   --  it returns the first one, but SQLite checks deferred foreign keys and commits at its end,
   --  which may fail and undo the changes: https://sqlite.org/c3ref/reset.html

   procedure Run_To_End (Self : in out Statement; Keeps_Rows : Boolean) with No_Inline;
   procedure Run_To_End (Self : in out Statement; Keeps_Rows : Boolean) is
      Result : Result_Code := Limited_Step (Connection (Self.Owner.all), Self.Handle);
   begin
      while Result = Row loop
         if Keeps_Rows then
            Keep_Row (Self);
         end if;
         Result := step (Self.Handle);
      end loop;
      if Result /= Done then
         Drop_Returned (Self);
         Fail (Self);
      end if;
      Self.Ended := True;
   exception
      when Storage_Error =>
         Drop_Returned (Self);
         Result := reset (Self.Handle);
         raise;
   end Run_To_End;

   function Next_Returned (Self : in out Statement) return Boolean with No_Inline;
   function Next_Returned (Self : in out Statement) return Boolean is
   begin
      if Self.Returned = null then
         Run_To_End (Self, Keeps_Rows => True);
      end if;
      if Self.Returned = null or else Self.Returned.Current = Self.Returned.Count then
         Self.Columns := 0;
         Drop_Returned (Self);
         return False;
      end if;
      Self.Returned.Current := Self.Returned.Current + 1;
      Self.Columns := Self.Returned.Width;
      return True;
   end Next_Returned;

   --  SQLite may prepare a statement again, with other columns, but only before its first row. The
   --  step after the last row runs the statement again: https://sqlite.org/c3ref/step.html

   overriding function Step (Self : in out Statement) return Boolean is
   begin
      if Self.Writes then
         return Next_Returned (Self);
      end if;
      case Limited_Step (Connection (Self.Owner.all), Self.Handle) is
         when Row =>
            if Self.Columns = 0 then
               Self.Columns := Natural (data_count (Self.Handle));
            end if;
            return True;
         when Done =>
            Self.Columns := 0;
            Self.Ended   := True;
            return False;
         when others =>
            Fail (Self);
      end case;
   end Step;

   overriding procedure Execute (Self : in out Statement) is
   begin
      if not Self.Writes then
         while Self.Step loop
            null;
         end loop;
      elsif Self.Returned = null then
         Run_To_End (Self, Keeps_Rows => False);
      else
         Self.Columns := 0;
         Drop_Returned (Self);
      end if;
   end Execute;

   --  An error is a new one, since a step that fails resets the statement

   overriding procedure Reset (Self : in out Statement) is
   begin
      Self.Columns := 0;
      Self.Ended   := False;
      Drop_Returned (Self);
      if reset (Self.Handle) /= OK then
         Raise_Latest (Handle_Of (Self.Owner));
      end if;
   end Reset;

   overriding procedure Unbind (Self : in out Statement) is
      Ignored : Result_Code;
   begin
      Self.Reset;
      Ignored := clear_bindings (Self.Handle);
   end Unbind;

   -------------
   -- Reading --
   -------------

   overriding function Is_Null (Self : Statement; Column : Column_Number) return Boolean is
     (Type_At (Self, Column) = Null_Type);

   --  Raises an error for a null. SQLite itself would read a null, or a text that is not a number,
   --  as zero.

   procedure Check_Null (Self : Statement; Column : Column_Number) with No_Inline;
   procedure Check_Null (Self : Statement; Column : Column_Number) is
   begin
      if Self.Is_Null (Column) then
         Refuse_Null (Column);
      end if;
   end Check_Null;

   --  Converts floating-point values with an integral value

   function Other_Integer (Self : Statement; Column : Column_Number) return Integer_64
     with No_Inline;
   function Other_Integer (Self : Statement; Column : Column_Number) return Integer_64 is
      Value : Long_Float;
   begin
      if Type_At (Self, Column) /= Float_Type then
         return Text_Values.To_Integer_64 (Self.As_Text (Column), Column);
      end if;
      Value := Float_At (Self, Column);
      if Value /= Long_Float'Truncation (Value) then
         Refuse_Range (Column, "0 decimals");
      elsif not (abs Value < 2.0 ** 63) then
         Refuse_Range (Column, "64 bits");
      end if;
      return Integer_64 (Value);
   end Other_Integer;

   overriding function As_Integer_64
     (Self : Statement; Column : Column_Number) return Integer_64 is
     (if Type_At (Self, Column) = Integer_Type
      then Integer_At (Self, Column)
      else Other_Integer (Self, Column));

   overriding function As_Integer_32
     (Self : Statement; Column : Column_Number) return Integer_32 is
     (Narrowed (Self.As_Integer_64 (Column), Column));

   overriding function As_Float
     (Self : Statement; Column : Column_Number) return Long_Float is
     (if Type_At (Self, Column) in Integer_Type | Float_Type
      then Float_At (Self, Column)
      else Text_Values.To_Float (Self.As_Text (Column), Column));

   --  Reads the length after the text, since SQLite may convert the text to UTF-8 first

   overriding function As_Text
     (Self : Statement; Column : Column_Number) return UTF_8_String
   is
      Start : constant System.Address := Text_At (Self, Column);
   begin
      if Start = System.Null_Address then
         Check_Null (Self, Column);
         Raise_Latest (Handle_Of (Self.Owner));
      end if;
      declare
         Text : String (1 .. Natural (Length_At (Self, Column)))
           with Import, Address => Start;
      begin
         return Text;
      end;
   end As_Text;

   overriding function As_Time
     (Self : Statement; Column : Column_Number) return Ada.Calendar.Time is
     (Text_Values.To_Time (Self.As_Text (Column), Column));

   overriding function As_Boolean (Self : Statement; Column : Column_Number) return Boolean is
     (To_Boolean (Self.As_Integer_64 (Column), Column));

   --  An empty blob also has a null address

   overriding function As_Blob (Self : Statement; Column : Column_Number) return Blob is
      Start  : constant System.Address := Blob_At (Self, Column);
      Length : constant int := Length_At (Self, Column);
   begin
      if Start = System.Null_Address then
         Check_Null (Self, Column);
         return [1 .. 0 => 0];
      end if;
      declare
         Bytes : Blob (1 .. Ada.Streams.Stream_Element_Offset (Length))
           with Import, Address => Start;
      begin
         return Bytes;
      end;
   end As_Blob;

   overriding function As_Scaled
     (Self : Statement; Column : Column_Number; Scale : Decimal_Scale) return Integer_64 is
     (if Type_At (Self, Column) = Float_Type
      then Text_Values.Rounded (Self.As_Float (Column), Scale, Column)
      else Text_Values.To_Scaled (Self.As_Text (Column), Scale, Column));

   overriding function Column_Name
     (Self : Statement; Column : Column_Number) return UTF_8_String is
     (Strings.Value (column_name (Self.Handle, int (Column) - 1)));

   -----------------
   -- Connections --
   -----------------

   overriding function Is_Open (Self : Connection) return Boolean is
     (Self.Handle /= No_Database);

   Open_Flags : constant array (Open_Mode) of int :=
     [Read_Only  => Open_Read_Only,
      Read_Write => Open_Read_Write,
      Create     => Open_Read_Write + Open_Create];

   --  Even after a failure there is a handle, which contains the error

   procedure Open
     (Self : in out Connection; Name : UTF_8_String; Mode : Open_Mode := Create)
   is
      DB      : Database_Handle;
      Ignored : Result_Code;
   begin
      if open_v2 (To_C (Name), DB, Open_Flags (Mode)) /= OK then
         begin
            Raise_Latest (DB);
         exception
            when others =>
               Ignored := close_v2 (DB);
               raise;
         end;
      end if;
      Self.Handle     := DB;
      Self.Step_Limit := 0.0;
      Self.Name       := To_Unbounded_String (Name);
      Self.Mode       := Mode;
   end Open;

   --  SQLite has no command to reset a session, so this opens the database again

   overriding procedure Reset_Session (Self : in out Connection) is
      Name : constant UTF_8_String := To_String (Self.Name);
   begin
      if Name = "" or else Ada.Strings.Fixed.Index (Name, ":memory:") > 0
        or else Ada.Strings.Fixed.Index (Name, "mode=memory") > 0
      then
         Raise_Error ("0A000", 0, "resetting the session would lose the in-memory database");
      end if;
      Self.Close;
      Self.Open (Name, Self.Mode);
   end Reset_Session;

   procedure Set_Busy_Timeout (Self : in out Connection; Wait : Busy_Wait) is
      Least : constant int := (if Wait > 0.0 then 1 else 0);
   begin
      if busy_timeout (Self.Handle, int'Max (Least, int (Wait * 1_000))) /= OK then
         Raise_Latest (Self.Handle);
      end if;
   end Set_Busy_Timeout;

   Instructions_Between : constant := 10_000;
   --  The number of instructions between checks of the clock, about 0.1 ms

   function Is_Overdue (Deadline : System.Address) return int with Convention => C;
   function Is_Overdue (Deadline : System.Address) return int is
      use type Ada.Real_Time.Time;

      Stop : Ada.Real_Time.Time with Import, Address => Deadline;
   begin
      return Boolean'Pos (Ada.Real_Time.Clock >= Stop);
   end Is_Overdue;

   procedure Set_Statement_Limit (Self : in out Connection; Limit : Wait_Duration) is
   begin
      Self.Step_Limit := Limit;
      progress_handler
        (Self.Handle, (if Limit > 0.0 then Instructions_Between else 0),
         (if Limit > 0.0 then Is_Overdue'Access else null), Self.Deadline'Address);
   end Set_Statement_Limit;

   overriding procedure Execute (Self : in out Connection; Text : UTF_8_String) is
      Command : Statement;
   begin
      Command.Prepare (Self, Text);
      Command.Execute;
   end Execute;

   overriding function Rows_Affected (Self : Connection) return Integer_64 is
     (changes64 (Self.Handle));

   overriding function Last_Insert_Id (Self : in out Connection) return Integer_64 is
     (last_insert_rowid (Self.Handle));

   overriding function In_Autocommit (Self : Connection) return Boolean is
     (get_autocommit (Self.Handle) /= 0);

   function Threading (Self : Connection) return Threading_Mode is
     (if threadsafe = 0 then Single_Thread
      elsif db_mutex (Self.Handle) = System.Null_Address then Multi_Thread
      else Serialized);

   overriding procedure Cancel (Self : Connection) is
   begin
      if Self.Is_Open then
         interrupt (Self.Handle);
      end if;
   end Cancel;

   overriding procedure Close (Self : in out Connection) is
      Ignored : Result_Code;
   begin
      if not Self.Is_Open then
         return;
      end if;
      Self.Close_Statements;
      for Command of Self.Commands loop
         Ignored := finalize (Command);
         Command := No_Statement;
      end loop;
      Ignored     := close_v2 (Self.Handle);
      Self.Handle := No_Database;
      Self.Is_Query_Only := False;
   end Close;

   procedure Run (Self : in out Connection; Command : Transaction_Command; Text : UTF_8_String) is
      Handle  : Statement_Handle renames Self.Commands (Command);
      Ignored : Result_Code;
   begin
      if Handle = No_Statement then
         Handle := Prepared (Self.Handle, Text);
      end if;
      if Limited_Step (Self, Handle) /= Done then
         Raise_Latest (Self.Handle, Failed => Handle);
      end if;
      Ignored := reset (Handle);
   end Run;

   overriding procedure Begin_Transaction (Self : in out Connection) is
   begin
      Run (Self, Begin_Work, "BEGIN");
   end Begin_Transaction;

   overriding procedure Begin_Immediate (Self : in out Connection) is
   begin
      Run (Self, Begin_Immediate_Work, "BEGIN IMMEDIATE");
   end Begin_Immediate;

   function Is_Query_Only (Self : in out Connection) return Boolean is
      Query : Statement;
   begin
      Query.Prepare (Self, "PRAGMA query_only");
      return Query.Step and then Query.As_Boolean (1);
   end Is_Query_Only;

   --  SQLite serializes all transactions, which satisfies every level

   overriding procedure Begin_Isolated
     (Self : in out Connection; Level : Isolation_Level; Mode : Access_Mode)
   is
      pragma Unreferenced (Level);
   begin
      if Mode = Read_Only and then not Is_Query_Only (Self) then
         Self.Execute ("PRAGMA query_only = 1");
         Self.Is_Query_Only := True;
      end if;
      Self.Begin_Transaction;
   exception
      when others =>
         Self.End_Isolated;
         raise;
   end Begin_Isolated;

   overriding procedure End_Isolated (Self : in out Connection) is
   begin
      if Self.Is_Query_Only then
         Self.Is_Query_Only := False;
         Self.Execute ("PRAGMA query_only = 0");
      end if;
   end End_Isolated;

   overriding procedure Commit (Self : in out Connection) is
   begin
      Run (Self, Commit_Work, "COMMIT");
   end Commit;

   overriding procedure Roll_Back (Self : in out Connection) is
   begin
      Run (Self, Roll_Back_Work, "ROLLBACK");
   end Roll_Back;

end Appserver.SQL.SQLite;
