--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The PostgreSQL driver, which uses libpq.
--
--  See Appserver.SQL for the operations. Parameters are written as ?, as in other databases, or as
--  $1, $2 and so on. In a text without parameters such as $1, double the ? in operators, as in data
--  ?? 'key'. The driver sends and receives values as text, and the server converts them. So a
--  program can bind and read values of all types. The driver uses the binary format only for the
--  rows of a prepared statement whose columns are all integers and texts: texts are the same in
--  both formats, and binary integers are cheaper to convert.
--
--  By default, rows are buffered: the Step that runs the statement receives all rows before it
--  returns the first row, so other statements of the connection can run while the program reads the
--  rows. This is also the fastest mode of libpq. If the rows do not fit in memory, stream them, or
--  read them in chunks by key.
--
--  Times are in UTC. The driver sends a time with its time zone, and receives it in ISO 8601. The
--  initial TimeZone of a session is UTC, so the result of now() is also in UTC when it is stored as
--  a timestamp without time zone. A program may set another TimeZone. Before each statement, the
--  driver resets client_encoding to UTF8, and DateStyle to ISO, but keeps the order of day and
--  month that the program has set for input.
--
--  The SQLSTATE of an error is the server's SQLSTATE, with two exceptions. If the server is
--  unreachable, the state is 08001 while connecting and 08006 later. If the columns of a prepared
--  statement have changed ("cached plan must not change result type"), the state is 26000, since
--  the server reports 0A000, its state for all unsupported features. Code_Of returns 0, since
--  PostgreSQL has no other codes.

pragma Ada_2022;

private with Ada.Containers.Vectors;
private with Appserver.SQL.PostgreSQL_Library;
private with Interfaces.C.Strings;

package Appserver.SQL.PostgreSQL is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   function Library_Version return String;
   --  @return the version of libpq that the program has loaded, such as "15.18"

   type Connection is new SQL.Connection with private;
   type Statement is new SQL.Statement with private;

   subtype Timeout_Duration is Duration range 0.0 .. 1_000_000.0;
   --  A timeout in seconds

   procedure Open
     (Self            : in out Connection;
      Target          : UTF_8_String;
      Connect_Timeout : Timeout_Duration := Timeout_Duration'Last)
     with Pre  => not Self.Is_Open or else raise Misuse_Error with "the connection is open",
          Post => Self.Is_Open;
   --  Connects to a server. Texts are UTF-8, regardless of the database's encoding.
   --  @param Self the connection
   --  @param Target a URI such as postgresql://ada:secret@example.com/shop?sslmode=require, or a
   --  list such as "host=/run/postgresql dbname=shop". For missing values, libpq uses environment
   --  variables: https://www.postgresql.org/docs/15/libpq-connect.html.
   --  @param Connect_Timeout the maximum time in seconds; overrides connect_timeout. The timeout
   --  includes name resolution, and covers all hosts together: each host gets an equal fraction of
   --  the remaining time, and so does each address of a host. The timeout does not cover the time
   --  in which libpq reads files, such as pg_service.conf, or queries an LDAP server that such a
   --  file names.
   --  @exception SQL_Error 08001 if no server responds in time; the server's own state, such as
   --  28P01, if the server rejects the connection
   --  @exception Misuse_Error the connection is open

   type Notice_Handler is access procedure (State : SQL_State; Message : UTF_8_String);

   procedure Set_Notice_Handler (Self : in out Connection; Handler : Notice_Handler);
   --  Sets a handler for the server's notices and warnings, which are discarded by default. The
   --  task whose call caused the notice calls the handler. Open can also cause notices.
   --  @param Self the connection
   --  @param Handler the handler; may be null. The handler must not use the connection. Exceptions
   --  that it raises are ignored.

   procedure Set_Statement_Limit (Self : in out Connection; Limit : Timeout_Duration)
     with Pre => Can_Use (Self);
   --  Limits the execution time of each statement. A statement that takes longer raises SQL_Error
   --  57014. If the limit is set in a transaction, a rollback restores the previous limit. By
   --  default, the server's own limit applies.
   --  @param Self the connection
   --  @param Limit the limit in seconds, with millisecond precision; 0.0 for no limit
   --  @exception Misuse_Error the connection is closed

   procedure Prepare
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String)
     with Pre  => Can_Use (On),
          Post => Self.Is_Open;
   --  Prepares a named statement on the server, which takes two round trips, and releases the
   --  previous statement of Self.
   --  @param Self the statement
   --  @param On the connection
   --  @param Text one SQL statement
   --  @exception SQL_Error the statement is not valid
   --  @exception Misuse_Error the connection is closed

   procedure Prepare_Client_Side
     (Self : in out Statement; On : in out Connection'Class; Text : UTF_8_String)
     with Pre  => Can_Use (On),
          Post => Self.Is_Open;
   --  Prepares a statement that runs as the server's unnamed statement. The server parses and plans
   --  the statement at each execution.
   --  @param Self the statement
   --  @param On the connection
   --  @param Text one SQL statement
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
   overriding function Transactions_Survive_Errors (Self : Connection) return Boolean is (False);
   overriding procedure Cancel (Self : Connection);
   --  Stops the running statement. The request uses a separate connection, which the server closes
   --  after it has processed the request. A proxy must not close that connection earlier.
   overriding procedure Reset_Session (Self : in out Connection);
   overriding procedure Close (Self : in out Connection);

   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Integer_64);
   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Long_Float);
   overriding procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : UTF_8_String);
   --  Binds a text. Raises SQL_Error 22021 if Value contains a NUL, which PostgreSQL cannot store.
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

   --  A statement's name on the server is "s" followed by its number, which makes the names unique

   type Statement_Number is new Natural;

   package Number_Vectors is new Ada.Containers.Vectors (Positive, Statement_Number);

   --  A connection to a server. Left contains the statements that were closed in a failed
   --  transaction, since the server cannot release statements until the end of the transaction.
   --  Streams_In_Work is True if the current stream began in a transaction. Begins is True if the
   --  next statement is the first statement of a transaction.

   type Connection is new SQL.Connection with record
      Handle          : PostgreSQL_Library.Connection_Handle := PostgreSQL_Library.No_Connection;
      Latest          : Statement_Number := 0;
      Left            : Number_Vectors.Vector;
      Affected        : Integer_64 := 0;
      Streams_In_Work : Boolean := False;
      Begins          : Boolean := False;
      On_Notice       : aliased Notice_Handler;
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
   --  Inserts rows with COPY FROM STDIN

   --  The bound values of a statement. Lengths and Formats are used for blobs, which are sent in
   --  binary format, and for COPY. Each parameter has a buffer. Later values reuse the buffer,
   --  which grows as needed, so binding a number allocates no memory.

   type Buffer_Reference is access String;
   type Buffer_List is array (Positive range <>) of Buffer_Reference;

   type Parameter_List (Count : Natural) is record
      Values  : PostgreSQL_Library.Value_List (1 .. Count);
      Lengths : PostgreSQL_Library.Length_List (1 .. Count);
      Formats : PostgreSQL_Library.Length_List (1 .. Count);
      Buffers : Buffer_List (1 .. Count);
   end record;

   type Parameters_Reference is access Parameter_List;

   --  A statement. Number is the number of a prepared statement; 0 for a statement that is sent as
   --  text. Command is the name of a prepared statement, or the text to send. Text is the text of a
   --  prepared statement. Is_Unknown is True if the server has dropped the statement. Sends_Blobs
   --  is True if a blob is bound. Format is the format of the rows. All_Integers is True if rows
   --  are binary and all columns are integers. Has_Blobs is True if rows are binary and include a
   --  bytea. Copies is True if the statement is a COPY. Result is not null while rows are read.
   --  Awaits is True if the server still has rows to send.

   type Statement is new SQL.Statement with record
      Number       : Statement_Number := 0;
      Command      : Strings.chars_ptr := Strings.Null_Ptr;
      Text         : Buffer_Reference;
      Is_Unknown   : Boolean := False;
      Values       : Parameters_Reference;
      Sends_Blobs  : Boolean := False;
      Format       : int := PostgreSQL_Library.In_Text;
      All_Integers : Boolean := False;
      Has_Blobs    : Boolean := False;
      Copies       : Boolean := False;
      Result       : PostgreSQL_Library.Result_Handle := PostgreSQL_Library.No_Result;
      Row          : int := 0;
      Rows         : int := 0;
      Awaits       : Boolean := False;
   end record;

   overriding procedure Run_Each
     (Self    : in out Statement;
      Bind    : not null access procedure
        (To : in out SQL.Statement'Class; Element : Positive);
      Counts  : out Count_List;
      Current : not null access Integer_64);
   --  Executes a statement multiple times. Uses libpq's pipeline mode, except for COPY.

end Appserver.SQL.PostgreSQL;
