--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Strings.Fixed;
with Appserver.SQL.Text_Values;
with Appserver.SQL.Time_Limits;

package body Appserver.SQL is

   use type Ada.Exceptions.Exception_Id;
   use type Interfaces.Integer_64;
   use type Interfaces.Unsigned_8;

   ------------
   -- Errors --
   ------------

   --  An exception contains only a message of 200 bytes. So each task stores the record of its
   --  latest error. The record applies to the occurrences that have its message.

   Max_Message_Length : constant := 2_000;
   Max_Part_Length    : constant := 500;

   type Stored_Error is record
      Is_Set            : Boolean;
      Lost_Connections  : Integer_64;
      --  The count so far, for the function of the same name
      Origin            : Error_Origin;
      State             : SQL_State;
      Code              : Integer;
      Element           : Integer_64;
      Message_Length    : Natural;
      Detail_Length     : Natural;
      Constraint_Length : Natural;
      Message           : String (1 .. Max_Message_Length);
      Detail            : String (1 .. Max_Part_Length);
      Constraint        : String (1 .. Max_Part_Length);
   end record;

   Latest : Stored_Error with Thread_Local_Storage;
   --  Thread-local storage is initially zero, which means not set

   --  Truncates only between UTF-8 characters

   function Length_In (Room : Positive; Text : UTF_8_String) return Natural is
      Length : Natural := Natural'Min (Text'Length, Room);
   begin
      while Length in 1 .. Text'Length - 1
        and then Character'Pos (Text (Text'First + Length)) in 16#80# .. 16#BF#
      loop
         Length := Length - 1;
      end loop;
      return Length;
   end Length_In;

   procedure Keep (Text : UTF_8_String; Into : in out String; Length : out Natural) is
   begin
      Length := Length_In (Into'Length, Text);
      Into (Into'First .. Into'First + Length - 1) :=
        Text (Text'First .. Text'First + Length - 1);
   end Keep;

   --  In the exception's message, before the text:
   --
   --     SQLSTATE 23505, SQLite 2067: UNIQUE constraint failed: account.name

   State_Prefix : constant String := "SQLSTATE ";
   Words_Prefix : constant String := ": ";

   function Name_Of (Origin : Error_Origin) return String is
     (case Origin is
         when From_Appserver  => "",
         when From_SQLite     => ", SQLite ",
         when From_PostgreSQL => ", PostgreSQL ",
         when From_MariaDB    => ", MariaDB ");

   function Header (Origin : Error_Origin; State : SQL_State; Code : Integer) return String is
     (State_Prefix & State & Name_Of (Origin)
      & (if Origin = From_Appserver then ""
         else Ada.Strings.Fixed.Trim (Code'Image, Ada.Strings.Left))
      & Words_Prefix);

   function Latest_Record return Error_Record is
     (Message_Length    => Latest.Message_Length,
      Detail_Length     => Latest.Detail_Length,
      Constraint_Length => Latest.Constraint_Length,
      Origin            => Latest.Origin,
      State             => Latest.State,
      Code              => Latest.Code,
      Element           => Latest.Element,
      Message           => Latest.Message (1 .. Latest.Message_Length),
      Detail            => Latest.Detail (1 .. Latest.Detail_Length),
      Constraint        => Latest.Constraint (1 .. Latest.Constraint_Length));

   procedure Raise_Error
     (State      : SQL_State;
      Code       : Integer;
      Message    : UTF_8_String;
      Origin     : Error_Origin := From_Appserver;
      Detail     : UTF_8_String := "";
      Constraint : UTF_8_String := "";
      Element    : Integer_64 := 0)
   is
      Words : constant UTF_8_String :=
        (if State = "08006" then Time_Limits.Overdue & Message else Message);
   begin
      Latest.Is_Set := True;
      Latest.Element := Element;
      Latest.Origin := Origin;
      Latest.State  := State;
      Latest.Code   := (if Origin = From_Appserver then 0 else Code);
      Keep (Words, Latest.Message, Latest.Message_Length);
      Keep (Detail, Latest.Detail, Latest.Detail_Length);
      Keep (Constraint, Latest.Constraint, Latest.Constraint_Length);
      if Latest_Record.Kind in Connection_Lost | Outcome_Unknown then
         Latest.Lost_Connections := Latest.Lost_Connections + 1;
      end if;
      raise SQL_Error with Header (Origin, State, Latest.Code) & Words;
   end Raise_Error;

   function Lost_Connections return Integer_64 is (Latest.Lost_Connections);

   GNAT_Length : constant := 200;
   --  GNAT truncates longer exception messages

   function Is_Latest (Text : String) return Boolean is
      Full_Text : constant String :=
        Header (Latest.Origin, Latest.State, Latest.Code)
        & Latest.Message (1 .. Latest.Message_Length);
   begin
      return Text = Full_Text (1 .. Natural'Min (GNAT_Length, Full_Text'Length));
   end Is_Latest;

   function Without_Parts
     (Origin : Error_Origin; State : SQL_State; Code : Integer; Message : String)
      return Error_Record is
     (Message'Length, 0, 0, Origin, State, Code, 0, Message, "", "");

   --  Reconstructs the error of an occurrence that is not the task's latest error

   function Read_Back (Text : String) return Error_Record is
      State_First  : constant Positive := Text'First + State_Prefix'Length;
      Origin_First : constant Positive := State_First + SQL_State'Length;
      Words_First  : constant Natural  := Ada.Strings.Fixed.Index (Text, Words_Prefix);

      function Begins (Name : String) return Boolean is
        (Words_First >= Origin_First + Name'Length
         and then Text (Origin_First .. Origin_First + Name'Length - 1) = Name);
   begin
      if Words_First < Origin_First
        or else Text (Text'First .. State_First - 1) /= State_Prefix
      then
         return Without_Parts (From_Appserver, "HY000", 0, Text);
      end if;
      for Origin in From_SQLite .. From_MariaDB loop
         if Begins (Name_Of (Origin)) then
            return Without_Parts
              (Origin, Text (State_First .. Origin_First - 1),
               Integer'Value (Text (Origin_First + Name_Of (Origin)'Length .. Words_First - 1)),
               Text (Words_First + Words_Prefix'Length .. Text'Last));
         end if;
      end loop;
      return Without_Parts
        (From_Appserver, Text (State_First .. Origin_First - 1), 0,
         Text (Words_First + Words_Prefix'Length .. Text'Last));
   end Read_Back;

   function Error_Of (Occurrence : Ada.Exceptions.Exception_Occurrence) return Error_Record is
      Text : constant String := Ada.Exceptions.Exception_Message (Occurrence);
   begin
      if Ada.Exceptions.Exception_Identity (Occurrence) /= SQL_Error'Identity then
         return Without_Parts (From_Appserver, "HY000", 0, Text);
      elsif Latest.Is_Set and then Is_Latest (Text) then
         return Latest_Record;
      else
         return Read_Back (Text);
      end if;
   end Error_Of;

   function State_Of (Error : Ada.Exceptions.Exception_Occurrence) return SQL_State is
     (Error_Of (Error).State);

   function Code_Of (Error : Ada.Exceptions.Exception_Occurrence) return Integer is
     (Error_Of (Error).Code);

   function Message_Of (Error : Ada.Exceptions.Exception_Occurrence) return UTF_8_String is
     (Error_Of (Error).Message);

   --  States: ISO/IEC 9075-2, clause 24, and PostgreSQL's manual, appendix A

   function Kind_Of_State (State : SQL_State) return Error_Kind is
     (if    State in "23505"                               then Unique_Violation
      elsif State in "23503" | "23001"                     then Foreign_Key_Violation
      elsif State in "23502"                               then Not_Null_Violation
      elsif State in "23514"                               then Check_Violation
      elsif State (1 .. 2) = "23"                          then Other_Violation
      elsif State in "40001" | "40000"                     then Serialization_Failure
      elsif State in "40P01"                               then Deadlock
      elsif State in "55P03"                               then Lock_Timeout
      elsif State in "57014"                               then Cancelled
      elsif State in "08001" | "08004" | "57P03" | "53300" then Unable_To_Connect
      --  Connection rejected, server starting, too many connections
      elsif State in "08007" | "40003"                     then Outcome_Unknown
      elsif State (1 .. 2) = "08"
        or else State in "57P01" | "57P02" | "57P05" | "25P03"
      then Connection_Lost
      --  The server is shutting down or crashed, or the session or its transaction was idle for too
      --  long
      elsif State in "26000"                               then Stale_Statement
      elsif State (1 .. 2) = "22"                          then Wrong_Value
      elsif State (1 .. 2) = "42"                          then Wrong_Statement
      else Other_Error);

   --  https://mariadb.com/docs/server/reference/error-codes

   function Kind_Of_MariaDB (Code : Integer; State : SQL_State) return Error_Kind is
     (case Code is
         when 1_022 | 1_062 | 1_169 | 1_586 | 1_859 => Unique_Violation,
         when 1_216 | 1_217 | 1_451 | 1_452         => Foreign_Key_Violation,
         when 1_048 | 1_364                         => Not_Null_Violation,
         --  Null, or no value and no default
         when 4_025                                 => Check_Violation,
         when 1_020                                 => Serialization_Failure,
         --  The record has changed since the snapshot
         when 1_213                                 => Deadlock,
         when 1_205                                 => Lock_Timeout,
         when 1_243 | 1_615                         => Stale_Statement,
         when 1_203                                 => Unable_To_Connect,
         --  The user has too many connections
         when others                                => Kind_Of_State (State));

   --  See https://sqlite.org/rescode.html. ABORT is the result of the program's own rollback.

   function Kind_Of_SQLite (Primary_Code : Natural; State : SQL_State) return Error_Kind is
     (case Primary_Code is
         when 5 | 6  => Database_Busy,
         when 17     => Stale_Statement,
         when 4      => Other_Error,
         when others => Kind_Of_State (State));

   function Kind (Error : Error_Record) return Error_Kind is
     (case Error.Origin is
         when From_MariaDB => Kind_Of_MariaDB (Error.Code, Error.State),
         when From_SQLite  => Kind_Of_SQLite (Error.Code mod 256, Error.State),
         when others       => Kind_Of_State (Error.State));

   --  If SQLite cannot open a file, a retry would also fail

   function Is_Retryable (Error : Error_Record) return Boolean is
     (case Error.Kind is
         when Serialization_Failure | Deadlock | Lock_Timeout | Database_Busy
            | Stale_Statement   => True,
         when Unable_To_Connect => Error.Origin /= From_SQLite,
         when others            => False);

   procedure Refuse_Null (Column : Column_Number) is
   begin
      Raise_Error ("22002", 0, "column" & Column'Image & " is null");
   end Refuse_Null;

   procedure Refuse_Range (Column : Column_Number; Into : String) is
   begin
      Raise_Error ("22003", 0, "column" & Column'Image & " does not fit into " & Into);
   end Refuse_Range;

   function To_Boolean (Value : Integer_64; Column : Column_Number) return Boolean is
   begin
      if Value not in 0 .. 1 then
         Raise_Error ("22018", 0, "column" & Column'Image & " is not a Boolean:" & Value'Image);
      end if;
      return Interfaces."=" (Value, 1);
   end To_Boolean;

   function Narrowed (Value : Integer_64; Column : Column_Number) return Integer_32 is
   begin
      if Value not in Integer_64 (Integer_32'First) .. Integer_64 (Integer_32'Last) then
         Refuse_Range (Column, "32 bits");
      end if;
      return Integer_32 (Value);
   end Narrowed;

   ----------------
   -- Statements --
   ----------------

   Closed_Statement  : constant String := "the statement is not open";
   Closed_Connection : constant String := "the connection is not open";

   function Refuse_Run return Boolean is
     (raise Misuse_Error with Closed_Statement);

   function Refuse_Bind
     (Self : Statement'Class; Parameter : Parameter_Number) return Boolean is
     (raise Misuse_Error with
        (if not Self.Is_Open then Closed_Statement
         elsif Self.Has_Row then "the statement's rows are being read: call Reset before Bind"
         else "invalid parameter" & Parameter'Image & ": the number of parameters is"
              & Self.Parameters'Image));

   function Refuse_Read
     (Self : Statement'Class; Column : Column_Number) return Boolean is
     (raise Misuse_Error with
        (if not Self.Is_Open then Closed_Statement
         elsif not Self.Has_Row then "there is no row to read: call Step first"
         else "invalid column" & Column'Image & ": the number of columns is" & Self.Columns'Image));

   function Can_Stream (Self : Statement'Class) return Boolean is
     (if not Self.Is_Open then raise Misuse_Error with Closed_Statement
      elsif Self.Has_Row
      then raise Misuse_Error with
        "the statement's rows are being read: call Reset before Set_Streamed"
      else True);

   procedure Set_Streamed (Self : in out Statement'Class; To : Boolean := True) is
   begin
      Self.Streams := To;
   end Set_Streamed;

   --------------
   -- Decimals --
   --------------

   --  The representation of a decimal is the scaled integer itself (RM 3.5.9), so GNAT's attributes
   --  Fixed_Value and Integer_Value convert without a multiplication

   procedure Bind_Decimal
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Decimal) is
   begin
      Self.Bind_Scaled (Parameter, Integer_64'Integer_Value (Value), Decimal'Scale);
   end Bind_Decimal;

   function As_Decimal (Self : Statement'Class; Column : Column_Number) return Decimal is
      Value : constant Integer_64 := Self.As_Scaled (Column, Decimal'Scale);
   begin
      if Value not in Integer_64'Integer_Value (Decimal'First)
                   .. Integer_64'Integer_Value (Decimal'Last)
      then
         Refuse_Range (Column, Decimal'Digits'Image & " digits");
      end if;
      return Decimal'Fixed_Value (Value);
   end As_Decimal;

   ----------------------------
   -- Dates, times and UUIDs --
   ----------------------------

   procedure Bind (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Date) is
   begin
      Self.Bind (Parameter, Text_Values.Image (Value));
   end Bind;

   procedure Bind
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Time_Of_Day) is
   begin
      Self.Bind (Parameter, Text_Values.Image (Value));
   end Bind;

   procedure Bind (Self : in out Statement'Class; Parameter : Parameter_Number; Value : UUID) is
   begin
      Self.Bind (Parameter, UTF_8_String'(Image (Value)));
   end Bind;

   function As_Date (Self : Statement'Class; Column : Column_Number) return Date is
     (Text_Values.To_Date (Self.As_Text (Column), Column));

   function As_Time_Of_Day (Self : Statement'Class; Column : Column_Number) return Time_Of_Day is
     (Text_Values.To_Time_Of_Day (Self.As_Text (Column), Column));

   function As_UUID (Self : Statement'Class; Column : Column_Number) return UUID is
      Text : constant UTF_8_String := Self.As_Text (Column);
   begin
      if Is_UUID (Text) then
         return To_UUID (Text);
      elsif Text'Length /= UUID'Length then
         Raise_Error ("22018", 0, "column" & Column'Image & " is not a UUID: " & Text);
      end if;
      return [for I in UUID'Range => Character'Pos (Text (Text'First + I - 1))];
   end As_UUID;

   subtype Hex_Digit is Character
     with Static_Predicate => Hex_Digit in '0' .. '9' | 'a' .. 'f' | 'A' .. 'F';

   function Value_Of (Digit : Hex_Digit) return Interfaces.Unsigned_8 is
     (case Digit is
         when '0' .. '9' => Character'Pos (Digit) - Character'Pos ('0'),
         when 'a' .. 'f' => Character'Pos (Digit) - Character'Pos ('a') + 10,
         when 'A' .. 'F' => Character'Pos (Digit) - Character'Pos ('A') + 10);

   subtype Hyphen_Place is Positive
     with Static_Predicate => Hyphen_Place in 9 | 14 | 19 | 24;

   Digits_16 : constant array (Interfaces.Unsigned_8 range 0 .. 15) of Character :=
     "0123456789abcdef";

   function Image (Value : UUID) return UUID_Text is
      Result : UUID_Text := [others => '-'];
      Place  : Positive := 1;
   begin
      for Byte of Value loop
         if Place in Hyphen_Place then
            Place := Place + 1;
         end if;
         Result (Place)     := Digits_16 (Byte / 16);
         Result (Place + 1) := Digits_16 (Byte mod 16);
         Place := Place + 2;
      end loop;
      return Result;
   end Image;

   function Is_UUID (Text : String) return Boolean is
     (Text'Length = UUID_Text'Length
      and then
        (for all Place in UUID_Text'Range =>
           (if Place in Hyphen_Place then Text (Text'First + Place - 1) = '-'
            else Text (Text'First + Place - 1) in Hex_Digit)));

   function To_UUID (Text : String) return UUID is
      Letters : constant UUID_Text := Text;
      Result  : UUID;
      Place   : Positive := 1;
   begin
      for Byte of Result loop
         if Place in Hyphen_Place then
            Place := Place + 1;
         end if;
         Byte  := Value_Of (Letters (Place)) * 16 + Value_Of (Letters (Place + 1));
         Place := Place + 2;
      end loop;
      return Result;
   end To_UUID;

   procedure Attach (Self : in out Statement'Class; Owner : in out Connection'Class) is
   begin
      Self.Owner := Owner'Unchecked_Access;
      Self.Next  := Owner.First;
      if Self.Next /= null then
         Self.Next.Previous := Self'Unchecked_Access;
      end if;
      Owner.First := Self'Unchecked_Access;
   end Attach;

   procedure Detach (Self : in out Statement'Class) is
   begin
      if Self.Owner = null then
         return;
      end if;
      if Self.Previous = null then
         Self.Owner.First := Self.Next;
      else
         Self.Previous.Next := Self.Next;
      end if;
      if Self.Next /= null then
         Self.Next.Previous := Self.Previous;
      end if;
      Self.Owner      := null;
      Self.Previous   := null;
      Self.Next       := null;
      Self.Columns    := 0;
      Self.Parameters := 0;
      Self.Is_Stale   := False;
      Self.Streams    := False;
   end Detach;

   procedure Run_Each
     (Self    : in out Statement;
      Bind    : not null access procedure (To : in out Statement'Class; Element : Positive);
      Counts  : out Count_List;
      Current : not null access Integer_64) is
   begin
      for I in Counts'Range loop
         Current.all := Integer_64 (I);
         Bind (Statement'Class (Self), I);
         Statement'Class (Self).Execute;
         Counts (I) := Self.Owner.Rows_Affected;
      end loop;
   end Run_Each;

   overriding procedure Finalize (Self : in out Statement) is
   begin
      Statement'Class (Self).Close;
   end Finalize;

   -----------------
   -- Connections --
   -----------------

   function Can_Use (Self : Connection'Class) return Boolean is
     (Self.Is_Open or else raise Misuse_Error with Closed_Connection);

   procedure Set_Wait_Limit (Self : in out Connection'Class; Limit : Wait_Duration) is
   begin
      Self.Limit := Limit;
   end Set_Wait_Limit;

   procedure Close_Statements (Self : in out Connection'Class) is
   begin
      while Self.First /= null loop
         Self.First.Close;
      end loop;
   end Close_Statements;

   procedure Begin_Transaction (Self : in out Connection) is
   begin
      Connection'Class (Self).Execute ("BEGIN");
   end Begin_Transaction;

   procedure Begin_Immediate (Self : in out Connection) is
   begin
      Connection'Class (Self).Begin_Transaction;
   end Begin_Immediate;

   procedure Begin_Isolated
     (Self : in out Connection; Level : Isolation_Level; Mode : Access_Mode)
   is
      pragma Unreferenced (Level, Mode);
   begin
      raise Program_Error with "Begin_Isolated must be overridden for each database";
   end Begin_Isolated;

   procedure Commit (Self : in out Connection) is
   begin
      Connection'Class (Self).Execute ("COMMIT");
   end Commit;

   procedure Roll_Back (Self : in out Connection) is
   begin
      Connection'Class (Self).Execute ("ROLLBACK");
   end Roll_Back;

   --  A comma inside quotes is part of a name: "a,b", `a,b` or [a,b]

   function Column_Placeholders (Columns : UTF_8_String) return UTF_8_String is
      Quote  : Character := ASCII.NUL;
      Result : UTF_8_String (1 .. 3 * Columns'Length + 3);
      Last   : Positive := 2;
   begin
      Result (1 .. 2) := "(?";
      for C of Columns loop
         if Quote /= ASCII.NUL then
            Quote := (if C = Quote then ASCII.NUL else Quote);
         elsif C in '"' | '`' | '[' then
            Quote := (if C = '[' then ']' else C);
         elsif C = ',' then
            Result (Last + 1 .. Last + 3) := ", ?";
            Last := Last + 3;
         end if;
      end loop;
      return Result (1 .. Last) & ")";
   end Column_Placeholders;

   procedure Load_Rows
     (Self           : in out Connection;
      Table, Columns : UTF_8_String;
      Next           : not null access function (Row : in out Statement'Class) return Boolean;
      Current        : not null access Integer_64)
   is
      Insert : Statement'Class := Connection'Class (Self).Prepare
        ("INSERT INTO " & Table & " (" & Columns & ") VALUES " & Column_Placeholders (Columns));
   begin
      Current.all := 1;
      while Next (Insert) loop
         Insert.Execute;
         Current.all := Current.all + 1;
      end loop;
      Current.all := Current.all - 1;
   end Load_Rows;

   overriding procedure Initialize (Self : in out Connection) is
   begin
      Self.Gate := new Cancel_Gate;
   end Initialize;

   overriding procedure Finalize (Self : in out Connection) is
   begin
      Connection'Class (Self).Close;
      if Self.Gate /= null then
         Time_Limits.Leave_Gate (Self);
      end if;
   end Finalize;

   ------------------
   -- Transactions --
   ------------------

   function Can_End (Self : Transaction'Class) return Boolean is
     (if not Self.Pending then raise Misuse_Error with "the transaction has ended"
      else Can_Use (Self.On.all));

   procedure Check_None (On : Connection'Class) is
   begin
      if not On.In_Autocommit then
         Raise_Error
           ("25001", 0, "a transaction is already open on this connection: use a Savepoint in it");
      end if;
   end Check_None;

   overriding procedure Initialize (Self : in out Transaction) is
   begin
      Check_None (Self.On.all);
      Self.On.Begin_Transaction;
      Self.Pending := True;
   end Initialize;

   --  Pending savepoints end with their transaction, or with an enclosing savepoint

   procedure End_Savepoints (On : in out Connection'Class; Up_To : Savepoint_Reference := null) is
   begin
      while On.Innermost /= Up_To loop
         On.Innermost.Pending := False;
         On.Innermost := On.Innermost.Outer;
      end loop;
   end End_Savepoints;

   procedure Commit (Self : in out Transaction) is
   begin
      Self.On.Commit;
      Self.Pending := False;
      End_Savepoints (Self.On.all);
   end Commit;

   --  Ends all streams, since the server could not receive a command while it still sends rows

   procedure Leave_Streams (On : in out Connection'Class) is
      Next : Statement_Reference := On.First;
   begin
      while Next /= null loop
         if Next.Streams and then Next.Has_Row then
            begin
               Next.Reset;
            exception
               when SQL_Error => null;  --  undone with the rest of the transaction
            end;
         end if;
         Next := Next.Next;
      end loop;
   end Leave_Streams;

   --  After some errors, the database has already rolled back, so there is nothing left to do

   procedure Roll_Back (Self : in out Transaction) is
   begin
      Self.Pending := False;
      End_Savepoints (Self.On.all);
      Leave_Streams (Self.On.all);
      if not Self.On.In_Autocommit then
         Self.On.Roll_Back;
      end if;
   end Roll_Back;

   --  Ignores errors, since they would hide the exception that is being propagated. Closing the
   --  connection also rolls back.

   overriding procedure Finalize (Self : in out Transaction) is
   begin
      if Self.Pending and then Self.On.Is_Open then
         Self.Roll_Back;
      end if;
   exception
      when SQL_Error => null;
   end Finalize;

   overriding procedure Initialize (Self : in out Immediate_Transaction) is
   begin
      Check_None (Self.On.all);
      Self.On.Begin_Immediate;
      Self.Pending := True;
   end Initialize;

   overriding procedure Initialize (Self : in out Isolated_Transaction) is
   begin
      Check_None (Self.On.all);
      Self.On.Begin_Isolated (Self.Level, Self.Mode);
      Self.Pending := True;
   end Initialize;

   overriding procedure Commit (Self : in out Isolated_Transaction) is
   begin
      Commit (Transaction (Self));
      Self.On.End_Isolated;
   end Commit;

   overriding procedure Roll_Back (Self : in out Isolated_Transaction) is
   begin
      Roll_Back (Transaction (Self));
      Self.On.End_Isolated;
   end Roll_Back;

   overriding procedure Finalize (Self : in out Isolated_Transaction) is
   begin
      if Self.Pending and then Self.On.Is_Open then
         Roll_Back (Self);
      end if;
   exception
      when SQL_Error => null;
   end Finalize;

   ----------------
   -- Savepoints --
   ----------------

   function Can_End (Self : Savepoint'Class) return Boolean is
     (if not Self.Pending then raise Misuse_Error with "the savepoint has ended"
      else Can_Use (Self.On.all));

   function Name_Of (Self : Savepoint) return String is
     ("appserver_" & Ada.Strings.Fixed.Trim (Self.Number'Image, Ada.Strings.Left));

   overriding procedure Initialize (Self : in out Savepoint) is
   begin
      if Self.On.In_Autocommit then
         End_Savepoints (Self.On.all);
         Raise_Error ("25P01", 0, "no transaction is open on this connection");
      end if;
      Self.Outer  := Self.On.Innermost;
      Self.Number := (if Self.Outer = null then 1 else Self.Outer.Number + 1);
      Self.On.Execute ("SAVEPOINT " & Name_Of (Self));
      Self.Pending      := True;
      Self.On.Innermost := Self'Unchecked_Access;
   end Initialize;

   procedure Release (Self : in out Savepoint) is
   begin
      if Self.On.In_Autocommit then
         Raise_Error ("25P01", 0, "the transaction has ended: the database rolled it back");
      end if;
      Self.On.Execute ("RELEASE SAVEPOINT " & Name_Of (Self));
      End_Savepoints (Self.On.all, Up_To => Self.Outer);
   end Release;

   --  After some errors, the database has already rolled back the transaction

   procedure Roll_Back (Self : in out Savepoint) is
   begin
      End_Savepoints (Self.On.all, Up_To => Self.Outer);
      Leave_Streams (Self.On.all);
      if not Self.On.In_Autocommit then
         Self.On.Execute ("ROLLBACK TO SAVEPOINT " & Name_Of (Self));
         Self.On.Execute ("RELEASE SAVEPOINT " & Name_Of (Self));
      end if;
   end Roll_Back;

   overriding procedure Finalize (Self : in out Savepoint) is
   begin
      if not Self.Pending then
         return;
      elsif Self.On.Is_Open then
         Self.Roll_Back;
      else
         End_Savepoints (Self.On.all, Up_To => Self.Outer);
      end if;
   exception
      when SQL_Error => null;
   end Finalize;

end Appserver.SQL;
