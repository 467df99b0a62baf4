--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The SQLite driver, which uses the system's SQLite library.
--
--  A connection is an open file. See Appserver.SQL for the operations of connections and
--  statements. The settings are SQLite's defaults, unless the program changes them.

pragma Ada_2022;

private with Ada.Real_Time;
private with Ada.Strings.Unbounded;
private with Appserver.SQL.SQLite_Library;

package Appserver.SQL.SQLite is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   function Library_Version return String;
   --  @return the version of the SQLite library that the program has loaded, such as "3.40.1"

   type Connection is new SQL.Connection with private;
   type Statement is new SQL.Statement with private;

   type Threading_Mode is (Single_Thread, Multi_Thread, Serialized);
   --  The ways in which threads may use the library and a connection:
   --  https://www.sqlite.org/threadsafe.html

   function Threading (Self : Connection) return Threading_Mode
     with Pre => Self.Is_Open or else raise Misuse_Error with "the connection is closed";
   --  @param Self the connection
   --  @return the threading mode in which the library was built and the connection was opened

   --  The following operations are specified in Appserver.SQL

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
   --  Binds a time as text such as "2026-11-21 09:15:00.123", with the millisecond precision of
   --  SQLite's date functions

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Boolean);
   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Blob);
   overriding procedure Bind_Scaled
     (Self      : in out Statement;
      Parameter : Parameter_Number;
      Value     : Integer_64;
      Scale     : Decimal_Scale);
   --  Binds the nearest floating-point value, since SQLite has no decimal type. Values with up to
   --  15 digits are read back exactly. Values with more digits raise SQL_Error 22003. To store more
   --  digits, bind a text to a text column: As_Decimal reads such a text exactly.

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

   --  Operations specific to SQLite

   type Open_Mode is (Read_Only, Read_Write, Create);
   --  The access to the file. Create opens the file for reading and writing, and creates the file
   --  if it does not exist.

   procedure Open
     (Self : in out Connection; Name : UTF_8_String; Mode : Open_Mode := Create)
     with Pre  => not Self.Is_Open or else raise Misuse_Error with "the connection is open",
          Post => Self.Is_Open;
   --  Opens a database. SQLite does not read the file before the first statement. If the file is
   --  not a database, the first statement raises SQL_Error XX001.
   --  @param Self the connection
   --  @param Name the name of a file, or ":memory:"
   --  @param Mode the access to the file
   --  @exception SQL_Error 08001 if the file cannot be opened
   --  @exception Misuse_Error the connection is open

   subtype Busy_Wait is Duration range 0.0 .. 2_000_000.0;

   procedure Set_Busy_Timeout (Self : in out Connection; Wait : Busy_Wait)
     with Pre => Can_Use (Self);
   --  Sets the time that a statement waits for the locks of other connections before it raises
   --  SQL_Error 55P03. By default, statements do not wait.
   --  @param Self the connection
   --  @param Wait the maximum time in seconds, with millisecond precision
   --  @exception Misuse_Error the connection is closed

   procedure Set_Statement_Limit (Self : in out Connection; Limit : Wait_Duration)
     with Pre => Can_Use (Self);
   --  Limits the execution time of each Step, and of every other call that runs statements. A call
   --  that takes longer raises SQL_Error 57014. Set_Busy_Timeout limits the time to wait for locks.
   --  @param Self the connection
   --  @param Limit the limit in seconds; 0.0 for no limit, the default
   --  @exception Misuse_Error the connection is closed

   procedure Prepare
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String)
     with Pre  => Can_Use (On),
          Post => Self.Is_Open;
   --  Prepares a statement, and releases the previous statement of Self.
   --  @param Self the statement
   --  @param On the connection
   --  @param Text one SQL statement
   --  @exception SQL_Error the statement is not valid
   --  @exception Misuse_Error the connection is closed

   procedure Prepare_Client_Side
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String)
     renames Prepare;
   --  Prepares a statement. This is the same as Prepare, since there is no server.

private

   use Ada.Strings.Unbounded;

   --  A connection to a database file. The statements BEGIN, COMMIT and ROLLBACK stay prepared
   --  after their first use. Is_Query_Only is True during a read-only transaction. Deadline is the
   --  deadline of the step in progress.

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

   --  A statement. Ended is True if the statement ran to its end and has not been reset since.
   --  Writes is True for a statement that may write. Its first Step runs it to its end and keeps
   --  the rows in Returned, which is null if there are none.

   type Returned_Rows;
   type Returned_Reference is access Returned_Rows;

   type Statement is new SQL.Statement with record
      Handle   : SQLite_Library.Statement_Handle := SQLite_Library.No_Statement;
      Ended    : Boolean := False;
      Writes   : Boolean := False;
      Returned : Returned_Reference;
   end record;

end Appserver.SQL.SQLite;
