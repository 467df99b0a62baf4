--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A portable SQL API: connections, prepared statements, transactions, and errors.
--
--  The types of this package are common to all databases. The child package for each database
--  derives its own types from them. A program that uses the types of a child package is bound to
--  that database at compile time, and its calls are inlined. A program that uses Connection'Class
--  runs on any database, at the cost of dispatching calls.
--
--  Resources are released at the end of their scope. Closing a connection closes its statements.
--  Only one task at a time may use a connection and its statements.

pragma Ada_2022;

with Ada.Calendar;
with Ada.Exceptions;
with Ada.Streams;
with Ada.Strings.UTF_Encoding;
with Interfaces;

private with Ada.Finalization;
private with Ada.Real_Time;

package Appserver.SQL is

   --  Preconditions are checked in every build, since the exceptions that they raise are part of
   --  the contract
   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   subtype Integer_32 is Interfaces.Integer_32;
   subtype Integer_64 is Interfaces.Integer_64;
   subtype UTF_8_String is Ada.Strings.UTF_Encoding.UTF_8_String;

   subtype Decimal_Scale is Natural range 0 .. 18;
   --  The number of decimals of a decimal number that is represented as an integer

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
   --  @param Year a year of the Gregorian calendar
   --  @param Month a month
   --  @return the last day of the month

   type Date is record
      Year  : Year_Number;
      Month : Month_Number;
      Day   : Day_Number;
   end record;

   function Is_Day (Value : Date) return Boolean is
     (Value.Day <= Last_Day (Value.Year, Value.Month));
   --  Checks a date. Only valid dates can be bound.
   --  @param Value the date
   --  @return True if the month has that day

   type Time_Of_Day is record
      Hour        : Natural range 0 .. 23      := 0;
      Minute      : Natural range 0 .. 59      := 0;
      Second      : Natural range 0 .. 59      := 0;
      Microsecond : Natural range 0 .. 999_999 := 0;
   end record;

   type UUID is array (1 .. 16) of Interfaces.Unsigned_8;
   --  A UUID (RFC 9562), as its 16 bytes in network order

   subtype UUID_Text is String (1 .. 36);

   function Image (Value : UUID) return UUID_Text;
   --  @param Value the UUID
   --  @return the UUID as text, such as "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"

   function Is_UUID (Text : String) return Boolean;
   --  @param Text a text
   --  @return True if the text is a UUID, in upper or lower case

   function To_UUID (Text : String) return UUID
     with Pre => Is_UUID (Text) or else raise Misuse_Error with "the text is not a UUID";
   --  @param Text the text of a UUID
   --  @return the UUID
   --  @exception Misuse_Error the text is not a UUID

   ------------
   -- Errors --
   ------------

   SQL_Error : exception;
   --  The database has reported an error, or a value does not have the requested type. Error_Of
   --  returns the details.

   subtype SQL_State is String (1 .. 5);
   --  An SQLSTATE, as defined by ISO/IEC 9075-2, clause 24, or by the database

   type Error_Origin is (From_Appserver, From_SQLite, From_PostgreSQL, From_MariaDB);
   --  The component that reported an error. From_Appserver means that this library rejected the
   --  value or the call without contacting the database.

   type Error_Kind is
     (Unique_Violation,
      Foreign_Key_Violation,
      Not_Null_Violation,
      Check_Violation,
      Other_Violation,
      --  A violation of another kind of constraint, or of a constraint whose kind the database does
      --  not report
      Serialization_Failure,
      --  The transaction could not be serialized with concurrent transactions
      Deadlock,
      Lock_Timeout,
      --  A lock was not available, or was not released in time
      Database_Busy,
      --  SQLite only: the database is locked, or has changed since the transaction read it
      Cancelled,
      --  Cancel or a time limit stopped the statement
      Unable_To_Connect,
      --  No connection could be established, so nothing was executed
      Connection_Lost,
      Outcome_Unknown,
      --  The database has reported that it does not know whether the transaction was committed
      Stale_Statement,
      --  The server has dropped the prepared statement, or its columns have changed. The statement
      --  had no effect. The next execution prepares it again.
      Wrong_Value,
      --  A data exception (class 22), such as a value that is not a number, too long or too large
      Wrong_Statement,
      --  A syntax error, an unknown name or missing privileges (class 42)
      Other_Error);
   --  The kinds of errors that a program can react to, which are the same for all databases

   type Error_Record (Message_Length, Detail_Length, Constraint_Length : Natural) is tagged record
      Origin     : Error_Origin;
      State      : SQL_State;
      Code       : Integer;
      --  SQLite's extended result code, or MariaDB's error number; 0 for other origins
      Element    : Integer_64 := 0;
      --  The number of the failed execution of a batch or the failed row of a load, from 1; 0 for
      --  other errors
      Message    : UTF_8_String (1 .. Message_Length);
      --  The error message of the database library
      Detail     : UTF_8_String (1 .. Detail_Length);
      --  PostgreSQL's detail message, such as "Key (name)=(Ada) already exists."; empty for other
      --  databases
      Constraint : UTF_8_String (1 .. Constraint_Length);
      --  The name of the violated constraint from PostgreSQL; empty for other databases, where the
      --  message contains the name
   end record;

   function Error_Of (Occurrence : Ada.Exceptions.Exception_Occurrence) return Error_Record;
   --  Returns the details of an SQL_Error. For the latest SQL_Error of the current task, the
   --  message has up to 2,000 bytes, and detail and constraint have up to 500 bytes. For any other
   --  SQL_Error, only the data that GNAT stores in an exception is available: origin, state, code,
   --  and the first 200 bytes of the message.
   --  @param Occurrence the exception
   --  @return the details; the state is HY000 if the exception is not an SQL_Error raised by this
   --  library

   function Kind (Error : Error_Record) return Error_Kind;
   --  Classifies an error by its state, and by its code where the code is more specific.
   --  @param Error the error
   --  @return the kind of the error

   function Is_Unique_Violation (Error : Error_Record) return Boolean is
     (Error.Kind = Unique_Violation);
   function Is_Foreign_Key_Violation (Error : Error_Record) return Boolean is
     (Error.Kind = Foreign_Key_Violation);
   function Is_Constraint_Violation (Error : Error_Record) return Boolean is
     (Error.Kind in Unique_Violation .. Other_Violation);
   function Is_Connection_Failure (Error : Error_Record) return Boolean is
     (Error.Kind in Unable_To_Connect .. Outcome_Unknown);
   --  @param Error the error
   --  @return True if the error's kind is the kind in the function's name, or a special case of it

   function Is_Retryable (Error : Error_Record) return Boolean;
   --  Checks whether the transaction is known not to have been committed and may succeed if it is
   --  retried from the beginning. Returns False for Connection_Lost, since the connection may have
   --  been lost during the commit. Appserver.Retry.Transactions can detect whether this was the
   --  case.
   --  @param Error the error
   --  @return True if the transaction can be retried

   function State_Of (Error : Ada.Exceptions.Exception_Occurrence) return SQL_State;
   function Code_Of (Error : Ada.Exceptions.Exception_Occurrence) return Integer;
   function Message_Of (Error : Ada.Exceptions.Exception_Occurrence) return UTF_8_String;
   --  @param Error the exception
   --  @return the component State, Code or Message of Error_Of (Error)

   function Lost_Connections return Integer_64;
   --  Counts this task's errors of the kinds Connection_Lost and Outcome_Unknown, after which a
   --  commit may have completed. A program can compare two counts to detect whether such an error
   --  occurred in the meantime, even if another part of the program handled the exception.
   --  @return the number of errors

   ----------------
   -- Statements --
   ----------------

   type Connection is abstract tagged limited private;
   type Statement is abstract tagged limited private;

   subtype Column_Number is Positive;
   subtype Parameter_Number is Positive;

   function Is_Open (Self : Statement'Class) return Boolean;
   --  @param Self the statement
   --  @return True if the statement is prepared, and neither the statement nor its connection has
   --  been closed since

   function Has_Row (Self : Statement'Class) return Boolean;
   --  @param Self the statement
   --  @return True if there is a row to read: after a Step that returned True, until the next Step
   --  or Reset

   function Column_Count (Self : Statement'Class) return Natural;
   --  @param Self the statement
   --  @return the number of columns of the current row; 0 if there is no row

   function Parameter_Count (Self : Statement'Class) return Natural;
   --  Returns the number of parameters. Portable SQL has a "?" for each parameter; PostgreSQL also
   --  accepts "$1", "$2" and so on. Parameters that have not been bound are null.
   --  @param Self the statement
   --  @return the number of parameters

   --  Functions for preconditions. Each function returns True, or raises Misuse_Error with the
   --  reason.

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
   --  Bind a value to a parameter. The statement stores a copy of the value, until another value is
   --  bound to the parameter. A time is bound as a timestamp without a time zone, in UTC, with
   --  microsecond precision. In SQLite and MariaDB, a Boolean is bound as 0 or 1, like their type
   --  boolean.
   --  @param Self the statement
   --  @param Parameter the number of the parameter, from 1
   --  @param Value the value; for Bind_Scaled, the decimal times 10 ** Scale
   --  @param Scale the number of decimals
   --  @exception Misuse_Error the statement has no such parameter, or has a row

   procedure Bind (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Date)
     with Pre => Can_Bind (Self, Parameter)
                   and then (Is_Day (Value)
                             or else raise Misuse_Error with "the day does not exist");
   procedure Bind
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Time_Of_Day)
     with Pre => Can_Bind (Self, Parameter);
   procedure Bind (Self : in out Statement'Class; Parameter : Parameter_Number; Value : UUID)
     with Pre => Can_Bind (Self, Parameter);
   --  Bind a value as text. Columns of the corresponding types accept this text. SQLite stores it
   --  as text.
   --  @param Self the statement
   --  @param Parameter the number of the parameter, from 1
   --  @param Value the value
   --  @exception Misuse_Error the statement has no such parameter, or the date is not valid

   generic
      type Decimal is delta <> digits <>;
   procedure Bind_Decimal
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Decimal)
     with Pre => Can_Bind (Self, Parameter);
   --  Binds a decimal. The decimal type must have at most 18 digits.
   --  @param Self the statement
   --  @param Parameter the number of the parameter, from 1
   --  @param Value the value
   --  @exception Misuse_Error the statement has no such parameter, or has a row

   function Is_Streamed (Self : Statement'Class) return Boolean;
   --  @param Self the statement
   --  @return True if the rows of the statement are streamed

   procedure Set_Streamed (Self : in out Statement'Class; To : Boolean := True)
     with Pre  => Can_Stream (Self),
          Post => Self.Is_Streamed = To;
   --  Sets whether rows are streamed from the server while the program reads them, so that at most
   --  one row is in memory. No other statement of the connection can run until the last row has
   --  been read, or until Reset has read and discarded the remaining rows. Until then, other
   --  statements raise SQL_Error with state HY010 or MariaDB's code 2014. A streamed statement that
   --  changes rows may still fail after it has returned rows: Step or Reset then raises the error,
   --  but Close does not. SQLite always streams, except the rows that a statement has changed.
   --  @param Self the statement
   --  @param To True to stream

   function Step (Self : in out Statement) return Boolean is abstract
     with Pre'Class => Can_Run (Self);
   --  Runs the statement up to its next row. When there are no more rows, the statement holds no
   --  locks, its parameters can be bound again, and the next Step runs the statement from the
   --  beginning.
   --  @param Self the statement
   --  @return True if there is a row
   --  @exception SQL_Error the database reported an error
   --  @exception Misuse_Error the statement is closed

   procedure Execute (Self : in out Statement) is abstract
     with Pre'Class => Can_Run (Self),
          Post'Class => not Self.Has_Row;
   --  Runs the statement to its end, and discards all rows.
   --  @param Self the statement
   --  @exception SQL_Error the database reported an error
   --  @exception Misuse_Error the statement is closed

   procedure Reset (Self : in out Statement) is abstract
     with Pre'Class => Can_Run (Self),
          Post'Class => not Self.Has_Row;
   --  Discards the unread rows, and releases read locks.
   --  @param Self the statement
   --  @exception SQL_Error the database reported an error after the rows of a stream
   --  @exception Misuse_Error the statement is closed

   procedure Unbind (Self : in out Statement) is abstract
     with Pre'Class  => Can_Run (Self),
          Post'Class => not Self.Has_Row;
   --  Resets the statement, and sets all parameters to null, as after Prepare.
   --  @param Self the statement
   --  @exception SQL_Error the database reported an error after the rows of a stream
   --  @exception Misuse_Error the statement is closed

   procedure Close (Self : in out Statement) is abstract
     with Post'Class => not Self.Is_Open;
   --  Releases the statement, if it is open. The object can then be used to prepare another
   --  statement.
   --  @param Self the statement

   --  Functions that return values of the current row. Reading a null raises SQL_Error 22002, since
   --  a null is neither zero nor an empty text. If a value has another type, the database converts
   --  it. If it cannot be converted, the functions raise SQL_Error 22018, or 22007 for a time. If
   --  the column does not exist, or the statement has no row, they raise Misuse_Error.

   function Is_Null (Self : Statement; Column : Column_Number) return Boolean is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return True if the value is null

   function As_Integer_32 (Self : Statement; Column : Column_Number) return Integer_32 is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return the value
   --  @exception SQL_Error 22003 if the value does not fit

   function As_Integer_64 (Self : Statement; Column : Column_Number) return Integer_64 is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return the value
   --  @exception SQL_Error 22003 if the value does not fit

   function As_Float (Self : Statement; Column : Column_Number) return Long_Float is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return the value

   function As_Text (Self : Statement; Column : Column_Number) return UTF_8_String is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return the value

   function As_Time (Self : Statement; Column : Column_Number) return Ada.Calendar.Time is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return a timestamp with microsecond precision, or a date. A timestamp without a time zone is
   --  interpreted as UTC.
   --  @exception SQL_Error 22008 if the year is not in the range of Ada.Calendar

   function As_Boolean (Self : Statement; Column : Column_Number) return Boolean is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return the value
   --  @exception SQL_Error 22018 for a number other than 0 and 1

   function As_Blob (Self : Statement; Column : Column_Number) return Blob is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return the bytes of a blob or a text

   function As_Date (Self : Statement'Class; Column : Column_Number) return Date
     with Pre => Can_Read (Self, Column);
   function As_Time_Of_Day (Self : Statement'Class; Column : Column_Number) return Time_Of_Day
     with Pre => Can_Read (Self, Column);
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return the value
   --  @exception SQL_Error 22007 or 22008 for a value that is not a time of day, such as a
   --  timestamp, or an interval longer than a day

   function As_UUID (Self : Statement'Class; Column : Column_Number) return UUID
     with Pre => Can_Read (Self, Column);
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return the UUID; the column contains its text or its 16 bytes

   function As_Scaled
     (Self : Statement; Column : Column_Number; Scale : Decimal_Scale) return Integer_64 is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  Reads a decimal as a scaled integer. A floating-point value is rounded, since only 15 digits
   --  are significant.
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @param Scale the number of decimals
   --  @return the value times 10 ** Scale
   --  @exception SQL_Error 22003 if the value does not fit, if an exact value has more than Scale
   --  decimals, or if the result of a floating-point value has more than 15 digits

   generic
      type Decimal is delta <> digits <>;
   function As_Decimal (Self : Statement'Class; Column : Column_Number) return Decimal
     with Pre => Can_Read (Self, Column);
   --  Reads a decimal, like As_Scaled. The decimal type must have at most 18 digits.
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return the value
   --  @exception SQL_Error in the same cases as for As_Scaled

   function Column_Name (Self : Statement; Column : Column_Number) return UTF_8_String is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return the name of the column

   --  Types that Appserver.SQL.Batches uses

   type Count_List is array (Positive range <>) of Integer_64;
   --  The number of rows that each execution inserted, changed or deleted

   -----------------
   -- Connections --
   -----------------

   function Is_Open (Self : Connection) return Boolean is abstract;
   --  @param Self the connection
   --  @return True if the connection is open

   function Is_Connected (Self : Connection) return Boolean is abstract
     with Pre'Class => Can_Use (Self);
   --  Checks whether an earlier call has lost the connection, without contacting the server. To
   --  test the connection, execute SELECT 1.
   --  @param Self the connection
   --  @return False after a call that lost the connection to the server

   function Can_Use (Self : Connection'Class) return Boolean;
   --  Checks that the connection is open, for use in preconditions.
   --  @param Self the connection
   --  @return True if the connection is open
   --  @exception Misuse_Error the connection is closed

   function Prepare
     (Self : in out Connection; Text : UTF_8_String) return Statement'Class is abstract
     with Pre'Class => Can_Use (Self);
   --  Prepares a statement.
   --  @param Self the connection
   --  @param Text one SQL statement
   --  @return the statement
   --  @exception SQL_Error the statement is not valid
   --  @exception Misuse_Error the connection is closed

   function Prepare_Client_Side
     (Self : in out Connection; Text : UTF_8_String) return Statement'Class is abstract
     with Pre'Class => Can_Use (Self);
   --  Prepares a statement that runs once or rarely. The server does not store a prepared
   --  statement, but receives and parses the text at each execution. Errors in the text are
   --  reported at execution.
   --  @param Self the connection
   --  @param Text one SQL statement
   --  @return the statement
   --  @exception Misuse_Error the connection is closed

   procedure Execute (Self : in out Connection; Text : UTF_8_String) is abstract
     with Pre'Class => Can_Use (Self);
   --  Runs one SQL statement without parameters, and discards its rows. The statement is committed
   --  automatically, unless a transaction is open.
   --  @param Self the connection
   --  @param Text the SQL statement
   --  @exception SQL_Error the database reported an error
   --  @exception Misuse_Error the connection is closed

   function Rows_Affected (Self : Connection) return Integer_64 is abstract
     with Pre'Class => Can_Use (Self);
   --  @param Self the connection
   --  @return the number of rows that the latest INSERT, UPDATE or DELETE inserted, changed or
   --  deleted

   function Last_Insert_Id (Self : in out Connection) return Integer_64 is abstract
     with Pre'Class => Can_Use (Self);
   --  Returns the key that the latest INSERT generated, provided that no other statement has been
   --  executed since: SQLite's rowid, MariaDB's AUTO_INCREMENT value (for the first of multiple
   --  rows), or the value of PostgreSQL's sequence, which takes a round trip. Alternatively, INSERT
   --  … RETURNING id works in all three databases, and returns all keys.
   --  @param Self the connection
   --  @return the key

   function In_Autocommit (Self : Connection) return Boolean is abstract
     with Pre'Class => Can_Use (Self);
   --  @param Self the connection
   --  @return True if no transaction is open, so each statement is committed automatically

   function Transactions_Survive_Errors (Self : Connection) return Boolean is abstract;
   --  Checks whether a constraint violation undoes only the statement that caused it. In
   --  PostgreSQL, a transaction can only be rolled back after an error, unless the statement ran
   --  inside a Savepoint.
   --  @param Self the connection
   --  @return True if the transaction can continue after a constraint violation

   procedure Cancel (Self : Connection) is abstract;
   --  Stops the running statement, which raises SQL_Error 57014. A statement that begins later is
   --  not stopped, but waits for the end of this call. Any task may call this procedure while the
   --  connection is open. If the server does not confirm the request in time, it may still process
   --  the request later. In that case, the current operation continues, but all later operations
   --  raise SQL_Error 08006, since the connection is lost. Close does not wait for Cancel to
   --  return, and Cancel does not affect the next session of the connection.
   --  @param Self the connection
   --  @exception SQL_Error 08001 if the server does not respond within the connection's Wait_Limit,
   --  or within 10 s if there is no Wait_Limit

   subtype Wait_Duration is Duration range 0.0 .. 1_000_000.0;
   --  A time limit in seconds; 0.0 means no limit

   procedure Set_Wait_Limit (Self : in out Connection'Class; Limit : Wait_Duration);
   --  Limits the time that each operation of the connection and its statements may wait for the
   --  server, including name resolution, connecting, and all round trips of a statement. An
   --  operation that takes longer raises SQL_Error 08006 (08001 in Open), and the connection is
   --  lost. The limit applies to each chunk that a batch or a load sends, and to each row of a
   --  stream. The time that the program's own code takes between operations does not count. The
   --  limit can be set before Open. The limit applies only to database servers: SQLite has
   --  Set_Statement_Limit and Set_Busy_Timeout instead.
   --  @param Self the connection
   --  @param Limit the limit in seconds; 0.0 for no limit

   function Wait_Limit (Self : Connection'Class) return Wait_Duration;
   --  @param Self the connection
   --  @return the limit in seconds; 0.0 if there is no limit

   procedure Reset_Session (Self : in out Connection) is abstract
     with Pre'Class => Can_Use (Self);
   --  Restores the state that the session had after Open: resets settings, drops temporary tables,
   --  releases named locks, and discards any other session state. An open transaction is rolled
   --  back. Statements stay open; if the server has dropped them, their next execution prepares
   --  them again. In SQLite, statements are closed, since the database is opened again.
   --  @param Self the connection
   --  @exception SQL_Error 0A000 for an in-memory SQLite database, whose contents would be lost

   procedure Close (Self : in out Connection) is abstract
     with Post'Class => not Is_Open (Self);
   --  Closes the connection's statements, rolls back an open transaction, and releases the
   --  connection. Has no effect if the connection is closed.
   --  @param Self the connection

   ------------------
   -- Transactions --
   ------------------

   type Transaction (On : not null access Connection'Class) is tagged limited private;
   --  A transaction, which begins at its declaration. If the transaction has not been committed by
   --  the end of its scope, it is rolled back, even after an exception. The declaration raises
   --  SQL_Error 25001 if On already has an open transaction.

   function Is_Pending (Self : Transaction) return Boolean;
   --  @param Self the transaction
   --  @return True until the transaction is committed or rolled back

   function Can_End (Self : Transaction'Class) return Boolean;
   --  Checks that the transaction can be ended, for use in preconditions.
   --  @param Self the transaction
   --  @return True if the transaction is pending and its connection is open
   --  @exception Misuse_Error the transaction is not pending, or its connection is closed

   procedure Commit (Self : in out Transaction)
     with Pre  => Can_End (Self),
          Post => not Self.Is_Pending;
   --  Commits the transaction. After an exception, the transaction may still be open: if the
   --  database was busy, Commit may be called again.
   --  @param Self the transaction
   --  @exception SQL_Error the database reported an error
   --  @exception Misuse_Error the transaction is not pending

   procedure Roll_Back (Self : in out Transaction)
     with Pre  => Can_End (Self),
          Post => not Self.Is_Pending;
   --  Rolls back the transaction.
   --  @param Self the transaction
   --  @exception Misuse_Error the transaction is not pending

   type Immediate_Transaction (On : not null access Connection'Class) is
     limited new Transaction with private;
   --  A transaction that acquires SQLite's write lock at the beginning (BEGIN IMMEDIATE), so that
   --  none of its statements fails because another connection has written. On database servers,
   --  which lock rows, this type is the same as Transaction.

   type Isolation_Level is (Default_Isolation, Read_Committed, Repeatable_Read, Serializable);
   --  The isolation level of a transaction. Default_Isolation is the default level of the session.
   --  A database may provide stronger isolation than requested: SQLite serializes all transactions.

   type Access_Mode is (Read_Write, Read_Only);

   type Isolated_Transaction
     (On    : not null access Connection'Class;
      Level : Isolation_Level;
      Mode  : Access_Mode) is limited new Transaction with private;
   --  A transaction with an isolation level and an access mode. In a Read_Only transaction,
   --  statements that write raise SQL_Error 25006.

   overriding procedure Commit (Self : in out Isolated_Transaction)
     with Pre  => Can_End (Self),
          Post => not Self.Is_Pending;
   overriding procedure Roll_Back (Self : in out Isolated_Transaction)
     with Pre  => Can_End (Self),
          Post => not Self.Is_Pending;

   type Savepoint (On : not null access Connection'Class) is tagged limited private;
   --  A savepoint in the open transaction. If the savepoint has not been released by the end of its
   --  scope, even after an exception, all changes since its declaration are undone, and the
   --  transaction continues. The end of a savepoint also ends all later savepoints. The declaration
   --  raises SQL_Error 25P01 if no transaction is open.

   function Is_Pending (Self : Savepoint) return Boolean;
   --  @param Self the savepoint
   --  @return True until the savepoint is released or rolled back, or its transaction is committed
   --  or rolled back

   function Can_End (Self : Savepoint'Class) return Boolean;
   --  Checks that the savepoint can be ended, for use in preconditions.
   --  @param Self the savepoint
   --  @return True if the savepoint is pending and its connection is open
   --  @exception Misuse_Error the savepoint is not pending, or its connection is closed

   procedure Release (Self : in out Savepoint)
     with Pre  => Can_End (Self),
          Post => not Self.Is_Pending;
   --  Ends the savepoint. The changes since its declaration become part of the transaction. After
   --  an exception, the savepoint is still pending.
   --  @param Self the savepoint
   --  @exception Misuse_Error the savepoint is not pending

   procedure Roll_Back (Self : in out Savepoint)
     with Pre  => Can_End (Self),
          Post => not Self.Is_Pending;
   --  Undoes the changes since the savepoint's declaration.
   --  @param Self the savepoint
   --  @exception Misuse_Error the savepoint is not pending

private

   type Connection_Reference is access all Connection'Class;
   type Statement_Reference is access all Statement'Class;
   type Savepoint_Reference is access all Savepoint;

   --  Synchronizes the task that uses a session with the tasks that call Cancel. Is_Under_Way is
   --  True while an operation waits for the server. Has_Stream is True while the server may send
   --  rows between operations. Is_Lost is True if no more operations may begin, because the server
   --  may still process a cancel request. Cancels is the number of tasks in Cancel; no operation
   --  may begin while it is positive. Holders is the number of tasks in Cancel, plus 1 for the
   --  connection; the last holder frees the gate.

   type Cancel_Count is mod 2 ** 32 with Atomic;

   type Cancel_Gate is limited record
      Is_Closed    : Boolean := True with Atomic;
      --  True until the end of Open, and again after Close
      Is_Under_Way : Boolean := False with Atomic;
      Has_Stream   : Boolean := False with Atomic;
      Is_Lost      : Boolean := False with Atomic;
      Cancels      : aliased Cancel_Count := 0;
      Holders      : aliased Cancel_Count := 1;
   end record;

   type Gate_Access is access Cancel_Gate with Atomic;

   --  A connection. Its open statements form a linked list that starts with First.

   type Connection is abstract limited new Ada.Finalization.Limited_Controlled with record
      First      : Statement_Reference;
      Innermost  : Savepoint_Reference;
      Limit      : Wait_Duration := 0.0;
      Gate       : Gate_Access;
      --  The gate of the current session; each session has its own gate
      Readers    : aliased Cancel_Count := 0;
      --  The number of tasks in Cancel that are reading the connection object
      Call_Deadline : Ada.Real_Time.Time := Ada.Real_Time.Time_Last;
      --  The deadline of the retried call that is opening the connection
   end record;

   overriding procedure Initialize (Self : in out Connection);
   overriding procedure Finalize (Self : in out Connection);

   --  A statement. Columns is 0 if there is no current row, and therefore also if there is no
   --  connection. So a single comparison checks whether a column can be read.

   --  Is_Stale is True if the server has dropped the statement, or cannot execute it again. The
   --  statement must then be prepared again.

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

   --  A savepoint. The pending savepoints of a connection form a linked list, starting with the
   --  innermost savepoint. The name of a savepoint contains Number.

   type Savepoint (On : not null access Connection'Class) is
     limited new Ada.Finalization.Limited_Controlled with record
      Pending : Boolean := False;
      Number  : Positive := 1;
      Outer   : Savepoint_Reference;
   end record;

   overriding procedure Initialize (Self : in out Savepoint);
   overriding procedure Finalize (Self : in out Savepoint);

   --  Operations for child packages, which the connections and statements of all databases share

   procedure Attach (Self : in out Statement'Class; Owner : in out Connection'Class)
     with Pre => Self.Owner = null, Post => Self.Owner /= null;
   --  Adds Self to Owner's open statements. Called after Self has been prepared.

   procedure Detach (Self : in out Statement'Class);
   --  Removes Self from its owner's open statements. Called when Self is closed.

   procedure Close_Statements (Self : in out Connection'Class)
     with Post => Self.First = null;

   function Socket (Self : Connection) return Integer is (-1);
   --  Returns the file descriptor of the connection to the server; negative if there is none

   --  The rules of a database for the texts of statements, where they differ from standard SQL: a
   --  backslash is an escape character in texts, "…" is a text and not a name, and # begins a
   --  comment

   type Text_Rules is record
      Has_Backslash_Escapes   : Boolean := False;
      Has_Double_Quoted_Texts : Boolean := False;
      Has_Hash_Comments       : Boolean := False;
   end record;

   function Rules_Of_Texts (Self : Connection) return Text_Rules is ((others => <>));
   --  Returns the rules of the session. Called while the connection is open.

   --  Procedures that by default run the SQL statement of the same name. A database may override
   --  them.

   procedure Begin_Transaction (Self : in out Connection);
   procedure Commit (Self : in out Connection);
   procedure Roll_Back (Self : in out Connection);

   procedure Begin_Immediate (Self : in out Connection);

   procedure Begin_Isolated
     (Self : in out Connection; Level : Isolation_Level; Mode : Access_Mode);
   procedure End_Isolated (Self : in out Connection) is null;
   --  Cleans up after the commit or rollback. Called even if the database itself has rolled back
   --  the transaction.

   --  Procedures that Appserver.SQL.Batches runs in a transaction or a savepoint. Current is the
   --  number of the element in progress, for error messages.

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
   --  Inserts rows into a table. At the end, Current is the total number of rows.

   function Column_Placeholders (Columns : UTF_8_String) return UTF_8_String;
   --  Returns the placeholders for a list of columns, such as "(?, ?)" for "name, stock"

   procedure Raise_Error
     (State      : SQL_State;
      Code       : Integer;
      Message    : UTF_8_String;
      Origin     : Error_Origin := From_Appserver;
      Detail     : UTF_8_String := "";
      Constraint : UTF_8_String := "";
      Element    : Integer_64 := 0)
     with No_Return;

   --  Procedures that raise SQL_Error for errors that this library detects

   procedure Refuse_Null (Column : Column_Number) with No_Return;
   procedure Refuse_Range (Column : Column_Number; Into : String) with No_Return;

   function To_Boolean (Value : Integer_64; Column : Column_Number) return Boolean;
   --  Converts an integer to a Boolean. Raises SQL_Error 22018 unless Value is 0 or 1.

   function Narrowed (Value : Integer_64; Column : Column_Number) return Integer_32 with Inline;
   --  Converts an integer to 32 bits. Raises SQL_Error 22003 if Value does not fit.

   --  Functions that raise the exceptions of preconditions. They are separate functions to keep the
   --  inlined checks small.

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
