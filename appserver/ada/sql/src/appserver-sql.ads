--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A portable SQL API: connections, prepared statements, transactions, errors.
--
--  The types here are common to all databases. A child package has those of one database. A program
--  that names a child's types is bound to it at compile time, and its calls are inlined. A program
--  that takes Connection'Class runs on any database, and pays for dispatching calls.
--
--  Resources are released at the end of their scope. A connection that is closed closes its
--  statements. One task at a time may use a connection and its statements.

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

   subtype Decimal_Scale is Natural range 0 .. 18;
   --  The number of decimals of a number that is stored as an integer

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
   --  @return True if its month has that day

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
   --  @param Value the UUID
   --  @return its text, such as "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"

   function Is_UUID (Text : String) return Boolean;
   --  @param Text a text
   --  @return True if it is a UUID, in upper or lower case

   function To_UUID (Text : String) return UUID
     with Pre => Is_UUID (Text) or else raise Misuse_Error with "it is no UUID";
   --  @param Text the text of a UUID
   --  @return the UUID
   --  @exception Misuse_Error the text is not a UUID

   ------------
   -- Errors --
   ------------

   SQL_Error : exception;
   --  The database reported an error, or a value does not have the requested type. Error_Of returns
   --  the details.

   subtype SQL_State is String (1 .. 5);
   --  An SQLSTATE of ISO/IEC 9075-2, clause 24, or one that the database defines

   type Error_Origin is (From_Appserver, From_SQLite, From_PostgreSQL, From_MariaDB);
   --  From_Appserver: this library rejected the value or the call, without asking the database

   type Error_Kind is
     (Unique_Violation,
      Foreign_Key_Violation,
      Not_Null_Violation,
      Check_Violation,
      Other_Violation,
      --  Another kind of constraint, or one that the database does not name
      Serialization_Failure,
      --  The transaction could not be serialized with others
      Deadlock,
      Lock_Timeout,
      --  A lock was not free, or not in time
      Database_Busy,
      --  SQLite: the database is locked, or has changed since the transaction read it
      Cancelled,
      --  Cancelled by Cancel or by a time limit
      Unable_To_Connect,
      --  No connection could be established: nothing was begun
      Connection_Lost,
      Outcome_Unknown,
      --  The database itself does not know whether it has committed
      Stale_Statement,
      --  A prepared statement that the server has dropped, or whose columns have changed. It had no
      --  effect. The next execution prepares it again.
      Wrong_Value,
      --  Class 22, a data exception: not a number, too long, too large
      Wrong_Statement,
      --  Class 42: a syntax error, an unknown name or missing privileges
      Other_Error);
   --  Errors that a program can react to: the same kinds for all databases

   type Error_Record (Message_Length, Detail_Length, Constraint_Length : Natural) is tagged record
      Origin     : Error_Origin;
      State      : SQL_State;
      Code       : Integer;
      --  SQLite's extended result code, or MariaDB's error number; else 0
      Element    : Integer_64 := 0;
      --  The number, from 1, of the execution of a batch, or of the row of a load, that failed;
      --  else 0
      Message    : UTF_8_String (1 .. Message_Length);
      --  The message of the database library
      Detail     : UTF_8_String (1 .. Detail_Length);
      --  The detail from PostgreSQL, such as "Key (name)=(Ada) already exists."; else empty
      Constraint : UTF_8_String (1 .. Constraint_Length);
      --  The name of the violated constraint from PostgreSQL; else empty: the message has it
   end record;

   function Error_Of (Occurrence : Ada.Exceptions.Exception_Occurrence) return Error_Record;
   --  Returns the details of an SQL_Error. In the task that raised the latest one, the message has
   --  up to 2,000 bytes, and detail and constraint have up to 500. Otherwise there is what GNAT
   --  keeps of an exception: origin, state, code, and 200 bytes of the message.
   --  @param Occurrence the exception
   --  @return the details; state HY000 if it is not an SQL_Error of this library

   function Kind (Error : Error_Record) return Error_Kind;
   --  Classifies an error by its state, and by its code where that is more specific.
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
   --  @return True if it is of that kind

   function Is_Retryable (Error : Error_Record) return Boolean;
   --  Checks whether the same transaction can succeed when it is retried from its begin, and cannot
   --  have been committed. It is False for Connection_Lost, which may have been in the commit:
   --  Appserver.Retry.Transactions can distinguish that.
   --  @param Error the error
   --  @return True if the transaction can be retried

   function State_Of (Error : Ada.Exceptions.Exception_Occurrence) return SQL_State;
   function Code_Of (Error : Ada.Exceptions.Exception_Occurrence) return Integer;
   function Message_Of (Error : Ada.Exceptions.Exception_Occurrence) return UTF_8_String;
   --  @param Error the exception
   --  @return one component of Error_Of

   function Lost_Connections return Integer_64;
   --  Counts the errors of this task after which a commit may have been completed: those of the
   --  kinds Connection_Lost and Outcome_Unknown. A change shows that one was handled meanwhile.
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
   --  @return True if it is prepared, and neither it nor its connection has been closed since

   function Has_Row (Self : Statement'Class) return Boolean;
   --  @param Self the statement
   --  @return True if there is a row to read: from a Step that returned True to the next Step or
   --  Reset

   function Column_Count (Self : Statement'Class) return Natural;
   --  @param Self the statement
   --  @return the number of columns of the current row; 0 without one

   function Parameter_Count (Self : Statement'Class) return Natural;
   --  Counts the parameters. Portable SQL has a ? for each; PostgreSQL also accepts $1 and so on.
   --  Parameters that were not bound are null.
   --  @param Self the statement
   --  @return the number of parameters

   --  For preconditions: each returns True, or raises Misuse_Error with the reason

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
   --  Bind a value, which is copied, and stays bound until it is bound again. A time is a timestamp
   --  without a time zone, in UTC, to the microsecond. In SQLite and MariaDB a Boolean is 0 or 1,
   --  as in their type boolean.
   --  @param Self the statement
   --  @param Parameter the number of the parameter, from 1
   --  @param Value the value. That of Bind_Scaled is the decimal Value / 10 ** Scale.
   --  @param Scale the number of decimals
   --  @exception Misuse_Error the statement has no such parameter, or has a row

   procedure Bind (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Date)
     with Pre => Can_Bind (Self, Parameter)
                   and then (Is_Day (Value)
                             or else raise Misuse_Error with "there is no such day");
   procedure Bind
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Time_Of_Day)
     with Pre => Can_Bind (Self, Parameter);
   procedure Bind (Self : in out Statement'Class; Parameter : Parameter_Number; Value : UUID)
     with Pre => Can_Bind (Self, Parameter);
   --  Bind a value as text, which columns of these types accept, and which they store in SQLite.
   --  @param Self the statement
   --  @param Parameter the number of the parameter, from 1
   --  @param Value the value
   --  @exception Misuse_Error the statement has no such parameter, or the date is not valid

   generic
      type Decimal is delta <> digits <>;
   procedure Bind_Decimal
     (Self : in out Statement'Class; Parameter : Parameter_Number; Value : Decimal)
     with Pre => Can_Bind (Self, Parameter);
   --  Binds a decimal of a type with up to 18 digits.
   --  @param Self the statement
   --  @param Parameter the number of the parameter, from 1
   --  @param Value the value
   --  @exception Misuse_Error the statement has no such parameter, or has a row

   function Is_Streamed (Self : Statement'Class) return Boolean;
   --  @param Self the statement
   --  @return True if its rows are streamed

   procedure Set_Streamed (Self : in out Statement'Class; To : Boolean := True)
     with Pre  => Can_Stream (Self),
          Post => Self.Is_Streamed = To;
   --  Streams rows from the server while they are read: at most one is in memory. No other
   --  statement of the connection can run until the last row was read, or the statement was reset,
   --  which reads the rest: SQL_Error, HY010 or MariaDB's 2014. SQLite never stores rows.
   --  @param Self the statement
   --  @param To True to stream

   function Step (Self : in out Statement) return Boolean is abstract
     with Pre'Class => Can_Run (Self);
   --  Runs the statement up to its next row. If there are no more, the statement holds no locks,
   --  can be bound again, and the next Step runs it again.
   --  @param Self the statement
   --  @return True if there is a row
   --  @exception SQL_Error the database reported an error
   --  @exception Misuse_Error the statement is closed

   procedure Execute (Self : in out Statement) is abstract
     with Pre'Class => Can_Run (Self),
          Post'Class => not Self.Has_Row;
   --  Runs the statement to its end, and discards its rows.
   --  @param Self the statement
   --  @exception SQL_Error the database reported an error
   --  @exception Misuse_Error the statement is closed

   procedure Reset (Self : in out Statement) is abstract
     with Pre'Class => Can_Run (Self),
          Post'Class => not Self.Has_Row;
   --  Discards the unread rows, and releases the locks of reading.
   --  @param Self the statement
   --  @exception Misuse_Error the statement is closed

   procedure Unbind (Self : in out Statement) is abstract
     with Pre'Class  => Can_Run (Self),
          Post'Class => not Self.Has_Row;
   --  Resets the statement, and sets all parameters to null, as after Prepare.
   --  @param Self the statement
   --  @exception Misuse_Error the statement is closed

   procedure Close (Self : in out Statement) is abstract
     with Post'Class => not Self.Is_Open;
   --  Releases the statement, if it is open. It may be prepared again.
   --  @param Self the statement

   --  Values of the current row. Reading a null raises SQL_Error, 22002: it is neither zero nor an
   --  empty text. The database converts a value of another type; if that is not possible,
   --  SQL_Error, 22018, or for a time 22007. A column that does not exist, or a statement without a
   --  row, raises Misuse_Error.

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
   --  @return a timestamp, to the microsecond, or a date; one without a time zone is taken as UTC
   --  @exception SQL_Error 22008 if it is not in the years of Ada.Calendar

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
   --  @return the bytes of a blob or of a text

   function As_Date (Self : Statement'Class; Column : Column_Number) return Date
     with Pre => Can_Read (Self, Column);
   function As_Time_Of_Day (Self : Statement'Class; Column : Column_Number) return Time_Of_Day
     with Pre => Can_Read (Self, Column);
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return the value
   --  @exception SQL_Error 22007 or 22008 for another value, such as a timestamp or an interval
   --  beyond a day

   function As_UUID (Self : Statement'Class; Column : Column_Number) return UUID
     with Pre => Can_Read (Self, Column);
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return the UUID, from a text or from 16 bytes

   function As_Scaled
     (Self : Statement; Column : Column_Number; Scale : Decimal_Scale) return Integer_64 is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  Reads a decimal as an integer. A floating-point value is rounded; it has 15 significant
   --  digits.
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @param Scale the number of decimals
   --  @return the value times 10 ** Scale
   --  @exception SQL_Error 22003 if the value does not fit, if an exact value has more decimals, or
   --  if the result of a floating-point value has more than 15 digits

   generic
      type Decimal is delta <> digits <>;
   function As_Decimal (Self : Statement'Class; Column : Column_Number) return Decimal
     with Pre => Can_Read (Self, Column);
   --  Reads a decimal of a type with up to 18 digits, like As_Scaled.
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return the value
   --  @exception SQL_Error as for As_Scaled

   function Column_Name (Self : Statement; Column : Column_Number) return UTF_8_String is abstract
     with Pre'Class => Can_Read (Self, Column);
   --  @param Self the statement
   --  @param Column the number of the column, from 1
   --  @return its name

   --  For Appserver.SQL.Batches

   type Count_List is array (Positive range <>) of Integer_64;
   --  The numbers of rows that each execution inserted, changed or deleted

   -----------------
   -- Connections --
   -----------------

   function Is_Open (Self : Connection) return Boolean is abstract;
   --  @param Self the connection
   --  @return True if it is open

   function Is_Connected (Self : Connection) return Boolean is abstract
     with Pre'Class => Can_Use (Self);
   --  Reports a lost server, without asking it: to find out before the next call, execute SELECT 1.
   --  @param Self the connection
   --  @return False after a call that lost the server

   function Can_Use (Self : Connection'Class) return Boolean;
   --  Used in preconditions.
   --  @param Self the connection
   --  @return True if it is open
   --  @exception Misuse_Error it is closed

   function Prepare
     (Self : in out Connection; Text : UTF_8_String) return Statement'Class is abstract
     with Pre'Class => Can_Use (Self);
   --  Prepares a statement of the connection's database.
   --  @param Self the connection
   --  @param Text one SQL statement
   --  @return the statement
   --  @exception SQL_Error the statement is not valid
   --  @exception Misuse_Error the connection is closed

   function Prepare_Client_Side
     (Self : in out Connection; Text : UTF_8_String) return Statement'Class is abstract
     with Pre'Class => Can_Use (Self);
   --  Prepares a statement that runs once or rarely. The server keeps no prepared statement, but
   --  receives and parses the text at each execution. An error in the text is reported by the
   --  execution.
   --  @param Self the connection
   --  @param Text one SQL statement
   --  @return the statement
   --  @exception Misuse_Error the connection is closed

   procedure Execute (Self : in out Connection; Text : UTF_8_String) is abstract
     with Pre'Class => Can_Use (Self);
   --  Runs one SQL statement without parameters, and discards its rows. It commits on its own,
   --  unless a transaction is open.
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
   --  Returns the key that the latest INSERT generated, if no other statement was executed since:
   --  SQLite's rowid, MariaDB's AUTO_INCREMENT (of the first of multiple rows), PostgreSQL's
   --  sequence, which takes a round trip. INSERT … RETURNING id is the same text in all three, and
   --  returns all keys.
   --  @param Self the connection
   --  @return the key

   function In_Autocommit (Self : Connection) return Boolean is abstract
     with Pre'Class => Can_Use (Self);
   --  @param Self the connection
   --  @return True if no transaction is open: a statement commits on its own

   function Transactions_Survive_Errors (Self : Connection) return Boolean is abstract;
   --  Reports whether the violation of a constraint undoes only its statement. In PostgreSQL, a
   --  transaction can only be rolled back after an error, unless a Savepoint is around the
   --  statement.
   --  @param Self the connection
   --  @return True if the transaction can continue

   procedure Cancel (Self : Connection) is abstract;
   --  Stops the running statement, which raises SQL_Error, 57014. A statement that begins later is
   --  not stopped: it waits for the end of this call. Any task may call this while the connection
   --  is open. If the request was sent, but not confirmed in time, the server may still take it:
   --  the current operation continues, but the connection is lost for all later ones, which raise
   --  SQL_Error, 08006. Close does not wait for the end of this call, which does not reach the next
   --  session of the connection.
   --  @param Self the connection
   --  @exception SQL_Error 08001 if the server does not respond within the connection's Wait_Limit,
   --  or without one within 10 s

   subtype Wait_Duration is Duration range 0.0 .. 1_000_000.0;
   --  In seconds; 0.0 is no limit

   procedure Set_Wait_Limit (Self : in out Connection'Class; Limit : Wait_Duration);
   --  Limits the time that each operation of the connection and of its statements may wait for the
   --  server, including name resolution, connecting, and all round trips of a statement. A longer
   --  one raises SQL_Error, 08006, and the connection is lost; in Open it is 08001. A batch and a
   --  load have this time for each part that they send, and a stream for each row. The program's
   --  own time in between does not count. The limit may be set before Open, and applies to servers:
   --  SQLite has Set_Statement_Limit and Set_Busy_Timeout.
   --  @param Self the connection
   --  @param Limit the limit in seconds; 0.0 for none

   function Wait_Limit (Self : Connection'Class) return Wait_Duration;
   --  @param Self the connection
   --  @return the limit in seconds; 0.0 if there is none

   procedure Reset_Session (Self : in out Connection) is abstract
     with Pre'Class => Can_Use (Self);
   --  Restores the state of the session after Open: settings, temporary tables, named locks, and
   --  whatever else it has accumulated. An open transaction is rolled back. Statements stay open,
   --  and are prepared again by their next execution where the server drops them. Those of SQLite
   --  are closed, since it opens the database again.
   --  @param Self the connection
   --  @exception SQL_Error 0A000 for an SQLite database in memory, which would be lost

   procedure Close (Self : in out Connection) is abstract
     with Post'Class => not Is_Open (Self);
   --  Closes its statements, rolls an open transaction back and releases the connection. It may be
   --  closed already.
   --  @param Self the connection

   ------------------
   -- Transactions --
   ------------------

   type Transaction (On : not null access Connection'Class) is tagged limited private;
   --  Begins at its declaration. It is rolled back at the end of its scope without a Commit, also
   --  after an exception. SQL_Error, 25001, if On has an open transaction.

   function Is_Pending (Self : Transaction) return Boolean;
   --  @param Self the transaction
   --  @return True until it is committed or rolled back

   function Can_End (Self : Transaction'Class) return Boolean;
   --  Used in preconditions.
   --  @param Self the transaction
   --  @return True if it is pending and its connection is open
   --  @exception Misuse_Error it is not

   procedure Commit (Self : in out Transaction)
     with Pre  => Can_End (Self),
          Post => not Self.Is_Pending;
   --  Commits the transaction. After an exception it may still be open: a Commit that found the
   --  database busy may be called again.
   --  @param Self the transaction
   --  @exception SQL_Error the database reported an error
   --  @exception Misuse_Error it is not pending

   procedure Roll_Back (Self : in out Transaction)
     with Pre  => Can_End (Self),
          Post => not Self.Is_Pending;
   --  Rolls the transaction back.
   --  @param Self the transaction
   --  @exception Misuse_Error it is not pending

   type Immediate_Transaction (On : not null access Connection'Class) is
     limited new Transaction with private;
   --  Takes SQLite's write lock at its begin (BEGIN IMMEDIATE), so that none of its statements
   --  fails because another connection wrote. On servers, which lock rows, it is a Transaction.

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
   --  A part of the open transaction. At the end of its scope without a Release, also after an
   --  exception, everything since its declaration is undone, and the transaction continues. Its end
   --  ends the savepoints that began after it. SQL_Error, 25P01, if no transaction is open.

   function Is_Pending (Self : Savepoint) return Boolean;
   --  @param Self the savepoint
   --  @return True until it or its transaction is released, committed or rolled back

   function Can_End (Self : Savepoint'Class) return Boolean;
   --  Used in preconditions.
   --  @param Self the savepoint
   --  @return True if it is pending and its connection is open
   --  @exception Misuse_Error it is not

   procedure Release (Self : in out Savepoint)
     with Pre  => Can_End (Self),
          Post => not Self.Is_Pending;
   --  Keeps the changes since its declaration, if the transaction commits. After an exception it is
   --  still pending.
   --  @param Self the savepoint
   --  @exception Misuse_Error it is not pending

   procedure Roll_Back (Self : in out Savepoint)
     with Pre  => Can_End (Self),
          Post => not Self.Is_Pending;
   --  Undoes the changes since its declaration.
   --  @param Self the savepoint
   --  @exception Misuse_Error it is not pending

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
