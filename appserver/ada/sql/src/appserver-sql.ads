--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  SQL databases of any kind: connections, prepared statements, transactions, errors.
--
--  The types here are common to all databases; a child package has those of one database. A
--  program that names a child's types is bound to it at compile time, and its calls are inlined.
--  A program that takes Connection'Class runs on any database, and pays for dispatching calls.
--
--  Resources are released on leaving scope. A connection that is closed closes its statements. A
--  connection and its statements serve one task at a time.

pragma Ada_2022;

with Ada.Calendar;
with Ada.Exceptions;
with Ada.Streams;
with Ada.Strings.UTF_Encoding;
with Interfaces;

private with Ada.Finalization;
private with Ada.Real_Time;

package Appserver.SQL is

   --  Preconditions are checked in every build: the exception of a broken one is part of the
   --  contract.
   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   subtype Integer_32 is Interfaces.Integer_32;
   subtype Integer_64 is Interfaces.Integer_64;
   subtype UTF_8_String is Ada.Strings.UTF_Encoding.UTF_8_String;

   Misuse_Error : exception;
   --  A bug in the program: it named a column that does not exist, used a closed statement, and the
   --  like

   subtype Decimal_Scale is Natural range 0 .. 18;
   --  Decimals of a number that is stored as an integer

   ------------
   -- Values --
   ------------

   subtype Byte is Ada.Streams.Stream_Element;
   subtype Blob is Ada.Streams.Stream_Element_Array;

   subtype Year_Number is Positive range 1 .. 9_999;
   subtype Month_Number is Positive range 1 .. 12;
   subtype Day_Number is Positive range 1 .. 31;

   function Last_Day (Year : Year_Number; Month : Month_Number) return Day_Number is
     (case Month is
         when 1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
         when 4 | 6 | 9 | 11              => 30,
         when 2                           =>
           (if Year mod 4 = 0 and then (Year mod 100 /= 0 or else Year mod 400 = 0)
            then 29 else 28));
   --  In the Gregorian calendar

   type Date is record
      Year  : Year_Number;
      Month : Month_Number;
      Day   : Day_Number;
   end record;

   function Is_Day (Value : Date) return Boolean is
     (Value.Day <= Last_Day (Value.Year, Value.Month));
   --  True if its month has that day. A program can make other dates, which cannot be bound.

   type Time_Of_Day is record
      Hour        : Natural range 0 .. 23      := 0;
      Minute      : Natural range 0 .. 59      := 0;
      Second      : Natural range 0 .. 59      := 0;
      Microsecond : Natural range 0 .. 999_999 := 0;
   end record;

   type UUID is array (1 .. 16) of Interfaces.Unsigned_8;
   --  See RFC 9562

   subtype UUID_Text is String (1 .. 36);

   function Image (Value : UUID) return UUID_Text;
   --  Such as "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"

   function Is_UUID (Text : String) return Boolean;
   --  True if Text is an Image, in upper or lower case

   function To_UUID (Text : String) return UUID
     with Pre => Is_UUID (Text) or else raise Misuse_Error with "it is no UUID";

   ------------
   -- Errors --
   ------------

   SQL_Error : exception;
   --  The database reported an error, or a value does not have the requested type. Error_Of has the
   --  reason.

   subtype SQL_State is String (1 .. 5);
   --  An SQLSTATE, of ISO/IEC 9075-2, clause 24, or the database's own, as the database says it

   type Error_Origin is (From_Appserver, From_SQLite, From_PostgreSQL, From_MariaDB);
   --  From_Appserver: this library refused the value or the call, without the database

   type Error_Kind is
     (Unique_Violation,
      Foreign_Key_Violation,
      Not_Null_Violation,
      Check_Violation,
      Other_Violation,
      --  Another kind of constraint, or one that the database does not name
      Serialization_Failure,
      --  The transaction could not be put in an order with others
      Deadlock,
      Lock_Timeout,
      --  A lock was not free, or not in time
      Database_Busy,
      --  SQLite: the database is locked, or has changed since the transaction read it
      Cancelled,
      --  Cancelled by Cancel or by a time limit
      Unable_To_Connect,
      --  No connection could be made: nothing was begun
      Connection_Lost,
      Outcome_Unknown,
      --  The database itself does not know whether it has committed
      Stale_Statement,
      --  A prepared statement that the server has forgotten, or whose columns have changed: it did
      --  nothing, and its next run prepares it anew
      Wrong_Value,
      --  Class 22, a data exception: no number, too long, too large
      Wrong_Statement,
      --  Class 42: its syntax, names or rights
      Other_Error);
   --  Errors that a program can react to: the same kinds for all databases

   type Error_Record (Message_Length, Detail_Length, Constraint_Length : Natural) is tagged record
      Origin     : Error_Origin;
      State      : SQL_State;
      Code       : Integer;
      --  SQLite's extended result code, or MariaDB's error number; else 0
      Element    : Integer_64 := 0;
      --  The execution of a batch, or the row of a load, that failed, from 1 on; else 0
      Message    : UTF_8_String (1 .. Message_Length);
      --  The database library's own words
      Detail     : UTF_8_String (1 .. Detail_Length);
      --  PostgreSQL's, as in "Key (name)=(Ada) already exists."; else empty
      Constraint : UTF_8_String (1 .. Constraint_Length);
      --  The name of the violated constraint from PostgreSQL; else empty: the message has it
   end record;

   function Error_Of (Occurrence : Ada.Exceptions.Exception_Occurrence) return Error_Record;
   --  The task that the error was raised in has all of the latest one, its message up to 2,000
   --  bytes, detail and constraint to 500. Else there is what GNAT keeps of an exception: origin,
   --  state, code, and 200 bytes of words. State HY000 if it is not an SQL_Error of this library.

   function Kind (Error : Error_Record) return Error_Kind;
   --  By the state, and by the code where that tells more

   function Is_Unique_Violation (Error : Error_Record) return Boolean is
     (Error.Kind = Unique_Violation);
   function Is_Foreign_Key_Violation (Error : Error_Record) return Boolean is
     (Error.Kind = Foreign_Key_Violation);
   function Is_Constraint_Violation (Error : Error_Record) return Boolean is
     (Error.Kind in Unique_Violation .. Other_Violation);
   function Is_Connection_Failure (Error : Error_Record) return Boolean is
     (Error.Kind in Unable_To_Connect .. Outcome_Unknown);

   function Is_Retryable (Error : Error_Record) return Boolean;
   --  True if the same transaction can succeed when it is retried from its begin, and cannot have
   --  been committed. Not after Connection_Lost: it may have been in the commit, which
   --  Appserver.Retry.Transactions can tell.

   function State_Of (Error : Ada.Exceptions.Exception_Occurrence) return SQL_State;
   function Code_Of (Error : Ada.Exceptions.Exception_Occurrence) return Integer;
   function Message_Of (Error : Ada.Exceptions.Exception_Occurrence) return UTF_8_String;
   --  Parts of Error_Of

   function Lost_Connections return Integer_64;
   --  How many errors this task has met after which a commit may have been done: those of the kinds
   --  Connection_Lost and Outcome_Unknown. It tells whether one was handled since it was last read.

   ----------------
   -- Statements --
   ----------------

   type Connection is abstract tagged limited private;
   type Statement is abstract tagged limited private;

   subtype Column_Number is Positive;
   subtype Parameter_Number is Positive;

   function Is_Open (Self : Statement'Class) return Boolean;
   --  True if it is prepared, and neither it nor its connection has been closed since

   function Has_Row (Self : Statement'Class) return Boolean;
   --  True if there is a row to read: from a Step that returned True to the next Step or Reset

   function Column_Count (Self : Statement'Class) return Natural;
   --  Columns of the current row; 0 without one

   function Parameter_Count (Self : Statement'Class) return Natural;
   --  Parameters to bind, from 1 on; those that were not bound are null. A text for any database
   --  has a ? for each; one for PostgreSQL may have $1 and so on.

   --  Preconditions: each is True, or raises Misuse_Error that says what is wrong

   function Can_Run (Self : Statement'Class) return Boolean;
   function Can_Bind (Self : Statement'Class; Parameter : Parameter_Number) return Boolean;
   function Can_Read (Self : Statement'Class; Column : Column_Number) return Boolean;

   function Can_Stream (Self : Statement'Class) return Boolean;

   procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Integer_64) is abstract
     with Pre'Class => Can_Bind (Self, Parameter);
   procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Long_Float) is abstract
     with Pre'Class => Can_Bind (Self, Parameter);
   procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : UTF_8_String) is abstract
     with Pre'Class => Can_Bind (Self, Parameter);
   procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Ada.Calendar.Time) is abstract
     with Pre'Class => Can_Bind (Self, Parameter);
   procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Boolean) is abstract
     with Pre'Class => Can_Bind (Self, Parameter);
   procedure Bind
     (Self : in out Statement; Parameter : Parameter_Number; Value : Blob) is abstract
     with Pre'Class => Can_Bind (Self, Parameter);
   procedure Bind_Scaled
     (Self      : in out Statement;
      Parameter : Parameter_Number;
      Value     : Integer_64;
      Scale     : Decimal_Scale) is abstract
     with Pre'Class => Can_Bind (Self, Parameter);
   procedure Bind_Null (Self : in out Statement; Parameter : Parameter_Number) is abstract
     with Pre'Class => Can_Bind (Self, Parameter);
   --  The value is copied, and stays bound until it is bound anew. A time is a timestamp without a
   --  time zone, in UTC, to the microsecond. A scaled value is the decimal Value / 10 ** Scale. In
   --  SQLite and MariaDB a Boolean is a 0 or a 1, as their type boolean has it.

   procedure Bind (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Date)
     with Pre => Can_Bind (Self, Parameter)
                   and then (Is_Day (Value)
                             or else raise Misuse_Error with "there is no such day");
   procedure Bind
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Time_Of_Day)
     with Pre => Can_Bind (Self, Parameter);
   procedure Bind (Self : in out Statement'Class; Parameter : Parameter_Number; Value : UUID)
     with Pre => Can_Bind (Self, Parameter);
   --  Bound as text, which columns of these types accept, and which they hold in SQLite

   generic
      type Decimal is delta <> digits <>;
   procedure Bind_Decimal
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Decimal)
     with Pre => Can_Bind (Self, Parameter);
   --  For types of up to 18 digits

   function Is_Streamed (Self : Statement'Class) return Boolean;

   procedure Set_Streamed (Self : in out Statement'Class; To : Boolean := True)
     with Pre  => Can_Stream (Self),
          Post => Self.Is_Streamed = To;
   --  Rows then come from a server as they are read: no more than one is in memory. No other
   --  statement of the connection can run until the last row was read, or the statement was reset,
   --  which reads the rest: SQL_Error, HY010 or MariaDB's 2014, if one does. SQLite never stores
   --  rows.

   function Step (Self : in out Statement) return Boolean is abstract
     with Pre'Class => Can_Run (Self);
   --  Runs the statement up to its next row. False if there are no more: the statement then holds
   --  no locks, can be bound anew, and the next Step runs it again.

   procedure Execute (Self : in out Statement) is abstract
     with Pre'Class => Can_Run (Self),
          Post'Class => not Self.Has_Row;
   --  Runs the statement to its end; rows are discarded

   procedure Reset (Self : in out Statement) is abstract
     with Pre'Class => Can_Run (Self),
          Post'Class => not Self.Has_Row;
   --  Discards the rows that were not read, and releases the locks of reading

   procedure Unbind (Self : in out Statement) is abstract
     with Pre'Class  => Can_Run (Self),
          Post'Class => not Self.Has_Row;
   --  Resets the statement, and sets all parameters to null, as after Prepare

   procedure Close (Self : in out Statement) is abstract
     with Post'Class => not Self.Is_Open;
   --  Releases the statement, if it is open. It may be prepared again.

   --  Values of the current row. Reading a null raises SQL_Error, 22002: it is neither zero nor an
   --  empty text. A value of another type is converted as the database converts it; if that is not
   --  possible, SQL_Error, 22018, or for a time 22007.

   function Is_Null (Self : Statement; Column : Column_Number) return Boolean is abstract
     with Pre'Class => Can_Read (Self, Column);

   function As_Integer_32 (Self : Statement; Column : Column_Number) return Integer_32 is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  SQL_Error, 22003, if the value does not fit

   function As_Integer_64 (Self : Statement; Column : Column_Number) return Integer_64 is abstract
     with Pre'Class => Can_Read (Self, Column);

   function As_Float (Self : Statement; Column : Column_Number) return Long_Float is abstract
     with Pre'Class => Can_Read (Self, Column);

   function As_Text (Self : Statement; Column : Column_Number) return UTF_8_String is abstract
     with Pre'Class => Can_Read (Self, Column);

   function As_Time (Self : Statement; Column : Column_Number) return Ada.Calendar.Time is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  A timestamp, to the microsecond, or a date; one without a time zone is taken as UTC.
   --  SQL_Error, 22008, if it is not in the years that Ada.Calendar has.

   function As_Boolean (Self : Statement; Column : Column_Number) return Boolean is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  SQL_Error, 22018, for a number other than 0 and 1

   function As_Blob (Self : Statement; Column : Column_Number) return Blob is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  The bytes of a blob or of a text

   function As_Date (Self : Statement'Class; Column : Column_Number) return Date
     with Pre => Can_Read (Self, Column);
   function As_Time_Of_Day (Self : Statement'Class; Column : Column_Number) return Time_Of_Day
     with Pre => Can_Read (Self, Column);
   --  SQL_Error, 22007 or 22008, for another value, such as a timestamp or an interval beyond a day

   function As_UUID (Self : Statement'Class; Column : Column_Number) return UUID
     with Pre => Can_Read (Self, Column);
   --  From a text, or from 16 bytes

   function As_Scaled
     (Self : Statement; Column : Column_Number; Scale : Decimal_Scale) return Integer_64 is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  The value times 10 ** Scale: exactly, if the database holds an exact one, and SQL_Error,
   --  22003, if it does not fit or has more decimals. A floating-point value is rounded; it keeps
   --  15 digits, and SQL_Error, 22003, is raised if the result has more.

   generic
      type Decimal is delta <> digits <>;
   function As_Decimal (Self : Statement'Class; Column : Column_Number) return Decimal
     with Pre => Can_Read (Self, Column);
   --  The same as a decimal of up to 18 digits

   function Column_Name (Self : Statement; Column : Column_Number) return UTF_8_String is abstract
     with Pre'Class => Can_Read (Self, Column);

   --  For Appserver.SQL.Batches

   type Count_List is array (Positive range <>) of Integer_64;
   --  Rows that each execution inserted, changed or deleted

   -----------------
   -- Connections --
   -----------------

   function Is_Open (Self : Connection) return Boolean is abstract;

   function Is_Connected (Self : Connection) return Boolean is abstract
     with Pre'Class => Can_Use (Self);
   --  False after a call that lost the server. The server is not asked: to know before the next
   --  call, execute SELECT 1.

   function Can_Use (Self : Connection'Class) return Boolean;
   --  For preconditions: True if it is open, else raises Misuse_Error

   function Prepare
     (Self : in out Connection; Text : UTF_8_String) return Statement'Class is abstract
     with Pre'Class => Can_Use (Self);
   --  A statement of the connection's database; Text is one SQL statement

   function Prepare_Client_Side
     (Self : in out Connection; Text : UTF_8_String) return Statement'Class is abstract
     with Pre'Class => Can_Use (Self);
   --  The same for a statement that runs once or rarely: a server keeps nothing of it, but gets and
   --  parses the text at each run. An error in the text is found when it runs.

   procedure Execute (Self : in out Connection; Text : UTF_8_String) is abstract
     with Pre'Class => Can_Use (Self);
   --  Runs one SQL statement, without parameters; rows are discarded. It commits on its own, unless
   --  a transaction is open.

   function Rows_Affected (Self : Connection) return Integer_64 is abstract
     with Pre'Class => Can_Use (Self);
   --  Rows that the latest INSERT, UPDATE or DELETE inserted, changed or deleted

   function Last_Insert_Id (Self : in out Connection) return Integer_64 is abstract
     with Pre'Class => Can_Use (Self);
   --  The key that the latest INSERT made, asked for before any other statement: SQLite's rowid,
   --  MariaDB's AUTO_INCREMENT (of the first of several rows), PostgreSQL's sequence, which takes a
   --  round trip. INSERT … RETURNING id is the same text in all three, and says which rows.

   function In_Autocommit (Self : Connection) return Boolean is abstract
     with Pre'Class => Can_Use (Self);
   --  True if no transaction is open: a statement commits on its own

   function Transactions_Survive_Errors (Self : Connection) return Boolean is abstract;
   --  True if the violation of a constraint undoes only its statement. In PostgreSQL a transaction
   --  can only be rolled back after any error, unless a Savepoint is around the statement.

   procedure Cancel (Self : Connection) is abstract;
   --  Stops the statement that is running, if one is: it raises SQL_Error, 57014. A statement that
   --  begins later is not stopped: it waits for the end of this call. Any task may call this while
   --  the connection is open. SQL_Error, 08001, if the server does not take it within the
   --  connection's Wait_Limit, or without one within 10 s. If the request was sent by then, the
   --  server may still take it: the operation that is under way goes on, but the connection is lost
   --  for all later ones, which raise SQL_Error, 08006. Close does not wait for the end of this
   --  call, which does not reach the next session of the connection.

   subtype Wait_Duration is Duration range 0.0 .. 1_000_000.0;
   --  In seconds; 0.0 is no limit

   procedure Set_Wait_Limit (Self : in out Connection'Class; Limit : Wait_Duration);
   function Wait_Limit (Self : Connection'Class) return Wait_Duration;
   --  How long each operation of the connection and of its statements may wait for the server, with
   --  all that it does: resolving names, connecting, all round trips of a statement. One that
   --  takes longer raises SQL_Error, 08006, and the connection is lost; in Open it is 08001. A
   --  batch and a load have this time for each part that they send, and a stream for each row; what
   --  the program itself does in between does not count. It may be set before Open, and is for
   --  servers: SQLite has Set_Statement_Limit and Set_Busy_Timeout.

   procedure Reset_Session (Self : in out Connection) is abstract
     with Pre'Class => Can_Use (Self);
   --  Gives the session the state that it had after Open: settings, temporary tables, locks that it
   --  took by name, and what else it gathered. An open transaction is rolled back. Statements stay
   --  open, and are prepared anew by their next run where their server forgets them; SQLite's are
   --  closed, since it opens the database anew. SQL_Error, 0A000, for an SQLite database in memory,
   --  which would be lost.

   procedure Close (Self : in out Connection) is abstract
     with Post'Class => not Is_Open (Self);
   --  Closes its statements, rolls an open transaction back and releases the connection. It may
   --  be closed already.

   ------------------
   -- Transactions --
   ------------------

   type Transaction (On : not null access Connection'Class) is tagged limited private;
   --  Begins where it is declared. It is rolled back when it leaves scope without a Commit, also by
   --  an exception. SQL_Error, 25001, if On has an open transaction.

   function Is_Pending (Self : Transaction) return Boolean;
   --  True if it was neither committed nor rolled back

   function Can_End (Self : Transaction'Class) return Boolean;
   --  For preconditions: True if it is pending and its connection open, else raises Misuse_Error

   procedure Commit (Self : in out Transaction)
     with Pre  => Can_End (Self),
          Post => not Self.Is_Pending;
   --  After an exception the transaction may still be open: a Commit that found the database busy
   --  may be called again.

   procedure Roll_Back (Self : in out Transaction)
     with Pre  => Can_End (Self),
          Post => not Self.Is_Pending;

   type Immediate_Transaction (On : not null access Connection'Class) is
     limited new Transaction with private;
   --  Takes SQLite's write lock at its begin (BEGIN IMMEDIATE), so that no statement in it is
   --  refused because another connection wrote. On servers, which lock rows, it is a Transaction.

   type Isolation_Level is (Default_Isolation, Read_Committed, Repeatable_Read, Serializable);
   --  Default_Isolation: the session's level. A database may isolate more: SQLite serializes all.

   type Access_Mode is (Read_Write, Read_Only);

   type Isolated_Transaction
     (On    : not null access Connection'Class;
      Level : Isolation_Level;
      Mode  : Access_Mode) is limited new Transaction with private;
   --  In a Read_Only transaction, statements that write raise SQL_Error, 25006

   overriding procedure Commit (Self : in out Isolated_Transaction)
     with Pre  => Can_End (Self),
          Post => not Self.Is_Pending;
   overriding procedure Roll_Back (Self : in out Isolated_Transaction)
     with Pre  => Can_End (Self),
          Post => not Self.Is_Pending;

   type Savepoint (On : not null access Connection'Class) is tagged limited private;
   --  A part of the open transaction. When it leaves scope without a Release, also by an exception,
   --  everything since its declaration is undone, and the transaction goes on. Its end ends the
   --  savepoints that began after it. SQL_Error, 25P01, if no transaction is open.

   function Is_Pending (Self : Savepoint) return Boolean;
   --  True if it, and its transaction, was neither released nor rolled back

   function Can_End (Self : Savepoint'Class) return Boolean;
   --  For preconditions: True if it is pending and its connection open, else raises Misuse_Error

   procedure Release (Self : in out Savepoint)
     with Pre  => Can_End (Self),
          Post => not Self.Is_Pending;
   --  The changes since its declaration stay, if the transaction commits. After an exception it is
   --  still pending.

   procedure Roll_Back (Self : in out Savepoint)
     with Pre  => Can_End (Self),
          Post => not Self.Is_Pending;

private

   type Connection_Reference is access all Connection'Class;
   type Statement_Reference is access all Statement'Class;
   type Savepoint_Reference is access all Savepoint;

   --  Between the task that uses a session and those that cancel. Is_Under_Way: an operation waits
   --  for the server. Has_Stream: rows are on their way between operations. Is_Lost: no operation
   --  begins any more, because the server may still take a request to cancel. Cancels: how many
   --  tasks are in Cancel; no operation begins meanwhile. Holders: these and the connection; the
   --  last one frees it.

   type Cancel_Count is mod 2 ** 32 with Atomic;

   type Cancel_Gate is limited record
      Is_Closed    : Boolean := True with Atomic;
      --  Until the end of Open
      Is_Under_Way : Boolean := False with Atomic;
      Has_Stream   : Boolean := False with Atomic;
      Is_Lost      : Boolean := False with Atomic;
      Cancels      : aliased Cancel_Count := 0;
      Holders      : aliased Cancel_Count := 1;
   end record;

   type Gate_Access is access Cancel_Gate with Atomic;

   --  A connection's open statements are linked through the statements themselves

   type Connection is abstract limited new Ada.Finalization.Limited_Controlled with record
      First      : Statement_Reference;
      Innermost  : Savepoint_Reference;
      Limit      : Wait_Duration := 0.0;
      Gate       : Gate_Access;
      --  Each session has one of its own
      Readers    : aliased Cancel_Count := 0;
      --  Tasks in Cancel that read the connection
      Call_Deadline : Ada.Real_Time.Time := Ada.Real_Time.Time_Last;
      --  That of the retried call that opens it, meanwhile
   end record;

   overriding procedure Initialize (Self : in out Connection);
   overriding procedure Finalize (Self : in out Connection);

   --  Columns is 0 without a row and so without a connection too: one comparison tells whether a
   --  column can be read.

   --  Is_Stale: the server has forgotten it, or will not run it any more; only to prepare it anew
   --  helps

   type Statement is abstract limited new Ada.Finalization.Limited_Controlled with record
      Columns    : Natural := 0;
      Parameters : Natural := 0;
      Owner      : Connection_Reference;
      Previous   : Statement_Reference;
      Next       : Statement_Reference;
      Is_Stale   : Boolean := False;
      Streams    : Boolean := False;
   end record;

   overriding procedure Finalize (Self : in out Statement);

   type Transaction (On : not null access Connection'Class) is
     limited new Ada.Finalization.Limited_Controlled with record
      Pending : Boolean := False;
   end record;

   overriding procedure Initialize (Self : in out Transaction);
   overriding procedure Finalize (Self : in out Transaction);

   type Immediate_Transaction (On : not null access Connection'Class) is
     limited new Transaction (On) with null record;

   overriding procedure Initialize (Self : in out Immediate_Transaction);

   type Isolated_Transaction
     (On    : not null access Connection'Class;
      Level : Isolation_Level;
      Mode  : Access_Mode) is limited new Transaction (On) with null record;

   overriding procedure Initialize (Self : in out Isolated_Transaction);
   overriding procedure Finalize (Self : in out Isolated_Transaction);

   --  The pending savepoints of a connection are linked, the innermost first. Number is the name.

   type Savepoint (On : not null access Connection'Class) is
     limited new Ada.Finalization.Limited_Controlled with record
      Pending : Boolean := False;
      Number  : Positive := 1;
      Outer   : Savepoint_Reference;
   end record;

   overriding procedure Initialize (Self : in out Savepoint);
   overriding procedure Finalize (Self : in out Savepoint);

   --  For the children: what every database's connections and statements do

   procedure Attach (Self : in out Statement'Class; Owner : in out Connection'Class)
     with Pre => Self.Owner = null, Post => Self.Owner /= null;
   --  Self was prepared on Owner

   procedure Detach (Self : in out Statement'Class);
   --  Self is being closed

   procedure Close_Statements (Self : in out Connection'Class)
     with Post => Self.First = null;

   function Socket (Self : Connection) return Integer is (-1);
   --  The file descriptor of the connection to the server; negative if there is none

   --  These run the statement of that name. A database may override them.

   procedure Begin_Transaction (Self : in out Connection);
   procedure Commit (Self : in out Connection);
   procedure Roll_Back (Self : in out Connection);

   procedure Begin_Immediate (Self : in out Connection);

   procedure Begin_Isolated
     (Self : in out Connection; Level : Isolation_Level; Mode : Access_Mode);
   procedure End_Isolated (Self : in out Connection) is null;
   --  Called after the commit or rollback, also one by the database

   --  Appserver.SQL.Batches runs these in a transaction or a savepoint. Current is the element that
   --  is under way: an error is named after it.

   procedure Run_Each
     (Self    : in out Statement;
      Bind    : not null access procedure (To : in out Statement'Class; Element : Positive);
      Counts  : out Count_List;
      Current : not null access Integer_64);

   procedure Load_Rows
     (Self           : in out Connection;
      Table, Columns : UTF_8_String;
      Next           : not null access function (Row : in out Statement'Class) return Boolean;
      Current        : not null access Integer_64);
   --  At the end, Current is the number of rows

   function Column_Placeholders (Columns : UTF_8_String) return UTF_8_String;
   --  Such as "(?, ?)" for the columns "name, stock"

   procedure Raise_Error
     (State      : SQL_State;
      Code       : Integer;
      Message    : UTF_8_String;
      Origin     : Error_Origin := From_Appserver;
      Detail     : UTF_8_String := "";
      Constraint : UTF_8_String := "";
      Element    : Integer_64 := 0)
     with No_Return;

   --  Errors that do not come from the database

   procedure Refuse_Null (Column : Column_Number) with No_Return;
   procedure Refuse_Range (Column : Column_Number; Into : String) with No_Return;

   function To_Boolean (Value : Integer_64; Column : Column_Number) return Boolean;
   --  SQL_Error, 22018, unless it is 0 or 1

   function Narrowed (Value : Integer_64; Column : Column_Number) return Integer_32 with Inline;
   --  SQL_Error, 22003, if it does not fit

   --  These raise the exceptions of preconditions, and are kept out of the inlined tests

   function Refuse_Run return Boolean with No_Inline;
   function Refuse_Bind
     (Self : Statement'Class; Parameter : Parameter_Number) return Boolean with No_Inline;
   function Refuse_Read
     (Self : Statement'Class; Column : Column_Number) return Boolean with No_Inline;

   function Wait_Limit (Self : Connection'Class) return Wait_Duration is (Self.Limit);

   function Is_Open (Self : Statement'Class) return Boolean is (Self.Owner /= null);

   function Has_Row (Self : Statement'Class) return Boolean is (Self.Columns > 0);

   function Column_Count (Self : Statement'Class) return Natural is (Self.Columns);

   function Parameter_Count (Self : Statement'Class) return Natural is (Self.Parameters);

   function Is_Streamed (Self : Statement'Class) return Boolean is (Self.Streams);

   function Can_Run (Self : Statement'Class) return Boolean is
     (Self.Is_Open or else Refuse_Run);

   function Can_Bind (Self : Statement'Class; Parameter : Parameter_Number) return Boolean is
     ((Parameter <= Self.Parameters and then not Self.Has_Row)
      or else Refuse_Bind (Self, Parameter));

   function Can_Read (Self : Statement'Class; Column : Column_Number) return Boolean is
     (Column <= Self.Columns or else Refuse_Read (Self, Column));

   function Is_Pending (Self : Transaction) return Boolean is (Self.Pending);

   function Is_Pending (Self : Savepoint) return Boolean is (Self.Pending);

end Appserver.SQL;
