--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  SQLite databases, through the system's SQLite library.
--
--  A connection is a file that is open; its operations, and a statement's, are those of
--  Appserver.SQL. Its settings are SQLite's defaults, but for those that the program sets.

pragma Ada_2022;

private with Ada.Real_Time;
private with Ada.Strings.Unbounded;
private with Appserver.SQL.SQLite_Library;

package Appserver.SQL.SQLite is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   function Library_Version return String;
   --  The version of the library that the program runs on, such as "3.40.1"

   type Connection is new SQL.Connection with private;
   type Statement is new SQL.Statement with private;

   type Threading_Mode is (Single_Thread, Multi_Thread, Serialized);
   --  Which threads may use the library and a connection: https://www.sqlite.org/threadsafe.html

   function Threading (Self : Connection) return Threading_Mode
     with Pre => Self.Is_Open;
   --  The mode that the library was built for, and in which the connection was opened

   --  The operations of Appserver.SQL, as they are there

   overriding function Is_Open (Self : Connection) return Boolean with Inline;
   overriding function Is_Connected (Self : Connection) return Boolean is (Self.Is_Open);
   overriding function Prepare
     (Self : in out Connection; Text : UTF_8_String) return SQL.Statement'Class;
   overriding function Prepare_Client_Side
     (Self : in out Connection; Text : UTF_8_String) return SQL.Statement'Class;
   overriding procedure Execute (Self : in out Connection; Text : UTF_8_String);
   overriding function Rows_Affected (Self : Connection) return Integer_64;
   overriding function Last_Insert_Id (Self : in out Connection) return Integer_64;
   overriding function In_Autocommit (Self : Connection) return Boolean;
   overriding function Transactions_Survive_Errors (Self : Connection) return Boolean is (True);
   overriding procedure Cancel (Self : Connection);
   overriding procedure Reset_Session (Self : in out Connection);
   overriding procedure Close (Self : in out Connection);

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Integer_64) with Inline;
   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Long_Float) with Inline;
   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : UTF_8_String);
   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Ada.Calendar.Time);
   --  Bound as text, such as "2026-11-21 09:15:00.123": SQLite's date functions use milliseconds

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Boolean);
   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Blob);
   overriding procedure Bind_Scaled
     (Self      : in out Statement;
      Parameter : Parameter_Number;
      Value     : Integer_64;
      Scale     : Decimal_Scale);
   --  Bound as the nearest floating-point value: SQLite has no decimals. Up to 15 digits come back
   --  as they were; SQL_Error, 22003, for more. A column of type text holds more, if the program
   --  binds a text; As_Decimal reads it exactly.

   overriding procedure Bind_Null (Self : in out Statement; Parameter : Parameter_Number);
   overriding function Step (Self : in out Statement) return Boolean with Inline;
   overriding procedure Execute (Self : in out Statement) with Inline;
   overriding procedure Reset (Self : in out Statement) with Inline;
   overriding procedure Unbind (Self : in out Statement);
   overriding procedure Close (Self : in out Statement);
   overriding function Is_Null (Self : Statement; Column : Column_Number) return Boolean;
   overriding function As_Integer_32
     (Self : Statement; Column : Column_Number) return Integer_32 with Inline;
   overriding function As_Integer_64
     (Self : Statement; Column : Column_Number) return Integer_64 with Inline;
   overriding function As_Float
     (Self : Statement; Column : Column_Number) return Long_Float with Inline;
   overriding function As_Text
     (Self : Statement; Column : Column_Number) return UTF_8_String;
   overriding function As_Time
     (Self : Statement; Column : Column_Number) return Ada.Calendar.Time;
   overriding function As_Boolean (Self : Statement; Column : Column_Number) return Boolean;
   overriding function As_Blob (Self : Statement; Column : Column_Number) return Blob;
   overriding function As_Scaled
     (Self : Statement; Column : Column_Number; Scale : Decimal_Scale) return Integer_64;
   overriding function Column_Name
     (Self : Statement; Column : Column_Number) return UTF_8_String;

   --  Operations of SQLite alone

   type Open_Mode is (Read_Only, Read_Write, Create);
   --  Create: to read and write, and the file is made if it is missing

   procedure Open
     (Self : in out Connection; Name : UTF_8_String; Mode : Open_Mode := Create)
     with Pre  => not Self.Is_Open or else raise Misuse_Error with "the connection is open",
          Post => Self.Is_Open;
   --  Name is a file's, or ":memory:". SQL_Error, 08001, if it cannot be opened. SQLite reads the
   --  file at the first statement: a file that is not a database raises XX001 there.

   subtype Busy_Wait is Duration range 0.0 .. 2_000_000.0;

   procedure Set_Busy_Timeout (Self : in out Connection; Wait : Busy_Wait)
     with Pre => Can_Use (Self);
   --  Sets how long a statement waits for other connections' locks, to the millisecond, before it
   --  raises SQL_Error, 55P03. Statements do not wait unless it is set.

   procedure Set_Statement_Limit (Self : in out Connection; Limit : Wait_Duration)
     with Pre => Can_Use (Self);
   --  In seconds: a Step, or another call that runs statements, that works for longer raises
   --  SQL_Error, 57014. The wait for locks is Set_Busy_Timeout's. There is none with 0.0, and as
   --  long as none is set.

   procedure Prepare
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String)
     with Pre  => Can_Use (On),
          Post => Self.Is_Open;
   --  Text is one SQL statement. What Self held before is released.

   procedure Prepare_Client_Side
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String)
     renames Prepare;
   --  The same as Prepare, since no server keeps the statement

private

   use Ada.Strings.Unbounded;

   --  BEGIN, COMMIT and ROLLBACK stay prepared from their first use on. Is_Query_Only: for the
   --  transaction that is open. Deadline: of the step that is under way.

   type Transaction_Command is (Begin_Work, Begin_Immediate_Work, Commit_Work, Roll_Back_Work);

   type Command_Handles is array (Transaction_Command) of SQLite_Library.Statement_Handle;

   type Connection is new SQL.Connection with record
      Handle        : SQLite_Library.Database_Handle := SQLite_Library.No_Database;
      Commands      : Command_Handles := [others => SQLite_Library.No_Statement];
      Is_Query_Only : Boolean := False;
      Name          : Unbounded_String;
      Mode          : Open_Mode := Create;
      Deadline      : aliased Ada.Real_Time.Time := Ada.Real_Time.Time_Last;
      Step_Limit    : Wait_Duration := 0.0;
   end record;

   overriding procedure Begin_Transaction (Self : in out Connection);
   overriding procedure Commit (Self : in out Connection);
   overriding procedure Roll_Back (Self : in out Connection);
   overriding procedure Begin_Immediate (Self : in out Connection);
   overriding procedure Begin_Isolated
     (Self : in out Connection; Level : Isolation_Level; Mode : Access_Mode);
   overriding procedure End_Isolated (Self : in out Connection);

   --  Ended: it ran to its end, and was not reset since

   type Statement is new SQL.Statement with record
      Handle : SQLite_Library.Statement_Handle := SQLite_Library.No_Statement;
      Ended  : Boolean := False;
   end record;

end Appserver.SQL.SQLite;
