--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The MariaDB driver, which uses libmariadb.
--
--  See Appserver.SQL for the operations. Parameters are written as ?. A prepared statement sends
--  and receives values in MariaDB's binary format, and reuses its buffers for each row. For a
--  statement that is prepared on the client side, the driver inserts the values into the text, as
--  literals that have the same meaning in every SQL mode.
--
--  Times are in UTC. The driver sets the session's time_zone to +00:00, since the server converts
--  its type timestamp from and to the session's time zone, and NOW returns a time in the session's
--  time zone. If a program sets another time zone, or a character set other than utf8mb4, the
--  driver resets this setting before the next statement. Use CONVERT_TZ for other time zones.
--
--  By default, rows are buffered: the Step that runs the statement receives all rows before it
--  returns the first row, so other statements of the connection can run while the program reads the
--  rows. If the rows do not fit in memory, stream them, or read them in chunks by key.
--
--  State_Of and Code_Of return the server's values, such as 23000 and 1062 for a duplicate key. For
--  errors without a specific state, this library sets the state: 57014 for a canceled statement,
--  08001 if no server responds, and 08006 if the connection is lost.

pragma Ada_2022;

private with Ada.Containers.Vectors;
private with Appserver.SQL.MariaDB_Library;
private with Appserver.SQL.MariaDB_Targets;
private with Appserver.SQL.MariaDB_Texts;
private with Interfaces.C;
private with System;

package Appserver.SQL.MariaDB is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   function Library_Version return String;
   --  @return the version of libmariadb that the program has loaded, such as "3.3.14"

   type Connection is new SQL.Connection with private;
   type Statement is new SQL.Statement with private;

   subtype Port_Number is Positive range 1 .. 65_535;

   Default_Port : constant Port_Number := 3_306;

   subtype Timeout_Duration is Duration range 0.0 .. 1_000_000.0;
   --  A timeout in seconds, rounded up to a whole number; 0.0 means no limit

   type TLS_Mode is (Unencrypted, Encrypted, Authenticated);
   --  The TLS protection of a connection. Authenticated means that the connection is encrypted, and
   --  that the server must present a valid certificate for its host name.

   procedure Open
     (Self             : in out Connection;
      Host             : String;
      User             : UTF_8_String;
      Password         : UTF_8_String;
      Database         : UTF_8_String     := "";
      Port             : Port_Number      := Default_Port;
      Connect_Timeout  : Timeout_Duration := 0.0;
      Response_Timeout : Timeout_Duration := 0.0;
      TLS              : TLS_Mode         := Unencrypted;
      Authority        : String           := "")
     with Pre  => not Self.Is_Open or else raise Misuse_Error with "the connection is open",
          Post => Self.Is_Open;
   --  Connects to a server. Texts are UTF-8. Rows_Affected counts all rows that match the condition
   --  of an UPDATE, as in other databases.
   --  @param Self the connection
   --  @param Host a host name or an address; "localhost" means the Unix socket
   --  @param User the user
   --  @param Password the user's password
   --  @param Database the default database; empty for none
   --  @param Port the TCP port
   --  @param Connect_Timeout the maximum time to connect, including name resolution
   --  @param Response_Timeout the maximum time to wait for data from the server. After that, the
   --  connection is lost (08006). Wait_Limit limits whole operations.
   --  @param TLS the protection of the connection
   --  @param Authority the path of a file with trusted CA certificates; empty for the system's
   --  certificates
   --  @exception SQL_Error 08001 if no server responds in time, or the server does not support the
   --  requested TLS mode; the server's own state, such as 28000, if the server rejects the
   --  connection
   --  @exception Misuse_Error the connection is open

   procedure Open
     (Self             : in out Connection;
      Target           : UTF_8_String;
      Connect_Timeout  : Timeout_Duration := 0.0;
      Response_Timeout : Timeout_Duration := 0.0;
      TLS              : TLS_Mode         := Unencrypted;
      Authority        : String           := "")
     with Pre  => not Self.Is_Open or else raise Misuse_Error with "the connection is open",
          Post => Self.Is_Open;
   --  Connects to a server that is specified by a URI.
   --  @param Self the connection
   --  @param Target a percent-encoded URI, such as mariadb://ada:secret@example.com:3306/shop, or
   --  mariadb://ada:secret@localhost/shop?socket=/run/mysqld/mysqld.sock for a Unix socket
   --  @param Connect_Timeout the maximum time to connect
   --  @param Response_Timeout the maximum time to wait for data from the server
   --  @param TLS the protection of the connection
   --  @param Authority the path of a file with trusted CA certificates; empty for the system's
   --  certificates
   --  @exception SQL_Error in the same cases as for Open with a host name
   --  @exception Misuse_Error the connection is open

   procedure Set_Statement_Limit (Self : in out Connection; Limit : Timeout_Duration)
     with Pre => Can_Use (Self);
   --  Limits the execution time of each statement. A statement that takes longer raises SQL_Error
   --  57014. By default, the server's own limit applies.
   --  @param Self the connection
   --  @param Limit the limit in seconds, with microsecond precision; 0.0 for no limit
   --  @exception Misuse_Error the connection is closed

   procedure Prepare
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String)
     with Pre  => Can_Use (On),
          Post => Self.Is_Open;
   --  Prepares a statement on the server, and releases the previous statement of Self.
   --  @param Self the statement
   --  @param On the connection
   --  @param Text one SQL statement
   --  @exception SQL_Error the statement is not valid
   --  @exception Misuse_Error the connection is closed

   procedure Prepare_Client_Side
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String)
     with Pre  => Can_Use (On),
          Post => Self.Is_Open;
   --  Prepares a statement on the client side: each execution inserts the bound values into the
   --  text, and sends the text to the server.
   --  @param Self the statement
   --  @param On the connection
   --  @param Text one SQL statement
   --  @exception SQL_Error 0A000 if Text has parameters and an executable comment
   --  @exception Misuse_Error the connection is closed

   --  The following operations are specified in Appserver.SQL

   overriding function Is_Open (Self : Connection) return Boolean with Inline;
   overriding function Is_Connected (Self : Connection) return Boolean;
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
   --  Stops the running statement over a separate connection. Raises SQL_Error if that connection
   --  cannot be opened.
   overriding procedure Reset_Session (Self : in out Connection);
   --  Restores the state of the session. Raises SQL_Error 0A000 after a USE if the connection was
   --  opened without a database, since the server cannot undo the USE.
   overriding procedure Close (Self : in out Connection);

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Integer_64) with Inline;
   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Long_Float);
   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : UTF_8_String);
   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Ada.Calendar.Time);
   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Boolean);
   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Blob);
   overriding procedure Bind_Scaled
     (Self      : in out Statement;
      Parameter : Parameter_Number;
      Value     : Integer_64;
      Scale     : Decimal_Scale);
   overriding procedure Bind_Null (Self : in out Statement; Parameter : Parameter_Number);
   overriding function Step (Self : in out Statement) return Boolean with Inline;
   overriding procedure Execute (Self : in out Statement);
   overriding procedure Reset (Self : in out Statement);
   overriding procedure Unbind (Self : in out Statement);
   overriding procedure Close (Self : in out Statement);
   overriding function Is_Null (Self : Statement; Column : Column_Number) return Boolean;
   overriding function As_Integer_32
     (Self : Statement; Column : Column_Number) return Integer_32 with Inline;
   overriding function As_Integer_64
     (Self : Statement; Column : Column_Number) return Integer_64 with Inline;
   overriding function As_Float (Self : Statement; Column : Column_Number) return Long_Float;
   overriding function As_Text (Self : Statement; Column : Column_Number) return UTF_8_String;
   overriding function As_Time
     (Self : Statement; Column : Column_Number) return Ada.Calendar.Time;
   overriding function As_Boolean (Self : Statement; Column : Column_Number) return Boolean;
   overriding function As_Blob (Self : Statement; Column : Column_Number) return Blob;
   overriding function As_Scaled
     (Self : Statement; Column : Column_Number; Scale : Decimal_Scale) return Integer_64;
   overriding function Column_Name
     (Self : Statement; Column : Column_Number) return UTF_8_String;

private

   use Interfaces.C;

   use type MariaDB_Library.Statement_Handle;

   package Handle_Vectors is new Ada.Containers.Vectors
     (Positive, MariaDB_Library.Statement_Handle);

   --  A connection to a server. Target and Id are stored for Cancel; Id is the server's ID of the
   --  connection. Streams is True while the server still has rows of a statement to send. Left
   --  contains the statements that were closed during that time: releasing a statement while the
   --  server sends rows would discard the rows.

   type Connection is new SQL.Connection with record
      Handle   : MariaDB_Library.Connection_Handle := MariaDB_Library.No_Connection;
      Target   : MariaDB_Targets.Target;
      Id       : unsigned_long := 0;
      Affected : Integer_64 := 0;
      Streams  : Boolean := False;
      Left     : Handle_Vectors.Vector;
   end record;

   overriding function Socket (Self : Connection) return Integer;
   overriding function Rules_Of_Texts (Self : Connection) return Text_Rules;
   overriding procedure Begin_Transaction (Self : in out Connection);
   overriding procedure Commit (Self : in out Connection);
   overriding procedure Roll_Back (Self : in out Connection);
   overriding procedure Begin_Isolated
     (Self : in out Connection; Level : Isolation_Level; Mode : Access_Mode);

   overriding procedure Load_Rows
     (Self           : in out Connection;
      Table, Columns : UTF_8_String;
      Next           : not null access function
        (Row : in out SQL.Statement'Class) return Boolean;
      Current        : not null access Integer_64);
   --  Inserts rows with multi-row INSERTs, because LOAD DATA LOCAL INFILE would allow a server to
   --  request files

   --  A parameter or a column value of a prepared statement. Only one of the formats is used. For a
   --  statement prepared on the client side, Bytes is the literal to insert into the text. Kind,
   --  Is_Unsigned and Decimals describe the column.

   type Buffer_Reference is access String;

   type Slot is record
      Kind        : MariaDB_Library.Type_Code := MariaDB_Library.Type_Null;
      Is_Unsigned : Boolean := False;
      Decimals    : Natural := 0;
      Is_Null     : aliased MariaDB_Library.my_bool := 1;
      Length      : aliased unsigned_long := 0;
      Int         : aliased Integer_64 := 0;
      Float       : aliased Long_Float := 0.0;
      Moment      : aliased MariaDB_Library.Date_Time;
      Bytes       : Buffer_Reference;
   end record;

   type Slot_List is array (Positive range <>) of Slot;

   type Exchange (Count : Natural) is record
      Slots    : Slot_List (1 .. Count);
      Bindings : MariaDB_Library.Binding_List (1 .. Count);
   end record;

   type Exchange_Reference is access Exchange;

   type Positions_Reference is access MariaDB_Texts.Position_List;

   --  A statement. Handle is set for a prepared statement. Otherwise Text is used, with parameters
   --  at the positions Places. Escapes is True if a backslash was an escape character when the text
   --  was parsed. Changes is True for a statement whose result has the rows that it changed. Bound
   --  is True if the parameter buffers are bound. Result contains the columns of
   --  a prepared statement, or the rows of a statement sent as text. For a statement sent as text,
   --  Row and Lengths describe the current row.

   type Statement is new SQL.Statement with record
      Handle  : MariaDB_Library.Statement_Handle := MariaDB_Library.No_Statement;
      Text    : Buffer_Reference;
      Places  : Positions_Reference;
      Escapes : Boolean := True;
      Changes : Boolean := False;
      Inputs  : Exchange_Reference;
      Bound   : Boolean := False;
      Outputs : Exchange_Reference;
      Result  : MariaDB_Library.Result_Handle := MariaDB_Library.No_Result;
      Row     : System.Address := System.Null_Address;
      Lengths : System.Address := System.Null_Address;
   end record;

   overriding procedure Run_Each
     (Self    : in out Statement;
      Bind    : not null access procedure
        (To : in out SQL.Statement'Class; Element : Positive);
      Counts  : out Count_List;
      Current : not null access Integer_64);
   --  Executes a statement multiple times, for a batch. If the statement only changes rows,
   --  combines multiple executions into one text, which contains their values.

end Appserver.SQL.MariaDB;
