--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Bindings to the functions of libpq, PostgreSQL's C library, that the driver uses:
--  https://www.postgresql.org/docs/15/libpq.html

pragma Ada_2022;

with Interfaces.C.Strings;
with System;

private package Appserver.SQL.PostgreSQL_Library is

   pragma Linker_Options ("-lpq");

   use Interfaces.C;

   type Connection_Handle is new System.Address;
   type Result_Handle is new System.Address;
   type Cancel_Handle is new System.Address;

   No_Connection : constant Connection_Handle := Connection_Handle (System.Null_Address);
   No_Result     : constant Result_Handle := Result_Handle (System.Null_Address);

   function libVersion return int
     with Import, Convention => C, External_Name => "PQlibVersion";

   --  Functions for connections

   type Word_List is array (Positive range <>) of Strings.chars_ptr with Convention => C;

   function connectStartParams
     (Keywords, Values : Word_List; Expand_Name : int) return Connection_Handle
     with Import, Convention => C, External_Name => "PQconnectStartParams";
   --  Begins to connect, and returns without waiting. Keywords and Values must each end with a
   --  null.

   type Option is record
      Keyword, Variable, Compiled, Value, Label, Display : Strings.chars_ptr;
      Size                                               : int;
   end record with Convention => C;

   type Option_Array is array (size_t range 0 .. 255) of Option with Convention => C;
   type Options_Access is access all Option_Array with Convention => C;
   --  A list of connection options, terminated by an element whose Keyword is null

   function conninfo (DB : Connection_Handle) return Options_Access
     with Import, Convention => C, External_Name => "PQconninfo";
   --  Returns the options of DB, from all sources; null if there is not enough memory

   procedure conninfoFree (Options : Options_Access)
     with Import, Convention => C, External_Name => "PQconninfoFree";

   type Polling_Status is
     (Polling_Failed, Polling_Reading, Polling_Writing, Polling_OK, Polling_Active)
     with Convention => C;

   function connectPoll (DB : Connection_Handle) return Polling_Status
     with Import, Convention => C, External_Name => "PQconnectPoll";

   function socket (DB : Connection_Handle) return int
     with Import, Convention => C, External_Name => "PQsocket";

   procedure finish (DB : Connection_Handle)
     with Import, Convention => C, External_Name => "PQfinish";

   type Connection_Status is new int;
   Connection_OK : constant Connection_Status := 0;

   function status (DB : Connection_Handle) return Connection_Status
     with Import, Convention => C, External_Name => "PQstatus";

   type Transaction_Status is (Idle, Active, In_Transaction, In_Error, Unknown)
     with Convention => C;

   function transactionStatus (DB : Connection_Handle) return Transaction_Status
     with Import, Convention => C, External_Name => "PQtransactionStatus";

   function host (DB : Connection_Handle) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "PQhost";
   function port (DB : Connection_Handle) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "PQport";

   function parameterStatus
     (DB : Connection_Handle; Name : char_array) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "PQparameterStatus";
   --  Returns a setting of the session as reported by the server; null if the server does not
   --  report it

   type Notice_Receiver is access procedure (Argument : System.Address; Notice : Result_Handle)
     with Convention => C;

   procedure setNoticeReceiver
     (DB : Connection_Handle; Receiver : Notice_Receiver; Argument : System.Address)
     with Import, Convention => C, External_Name => "PQsetNoticeReceiver";

   function errorMessage (DB : Connection_Handle) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "PQerrorMessage";

   Verbosity_Default : constant := 1;
   Verbosity_Verbose : constant := 2;

   function setErrorVerbosity (DB : Connection_Handle; Verbosity : int) return int
     with Import, Convention => C, External_Name => "PQsetErrorVerbosity";

   function getCancel (DB : Connection_Handle) return Cancel_Handle
     with Import, Convention => C, External_Name => "PQgetCancel";

   Cancel_Message_Length : constant := 256;

   function cancel
     (Handle : Cancel_Handle; Error : out char_array; Error_Size : int) return int
     with Import, Convention => C, External_Name => "PQcancel";

   procedure freeCancel (Handle : Cancel_Handle)
     with Import, Convention => C, External_Name => "PQfreeCancel";

   --  Functions that run statements. Values are NUL-terminated texts, or null.

   type Value_List is array (Positive range <>) of System.Address with Convention => C;

   type Length_List is array (Positive range <>) of int with Convention => C;
   --  The lengths in bytes of values in binary format, or the formats of values (0 for text, 1 for
   --  binary)

   function exec (DB : Connection_Handle; Text : char_array) return Result_Handle
     with Import, Convention => C, External_Name => "PQexec";

   function prepare
     (DB         : Connection_Handle;
      Name       : char_array;
      Text       : char_array;
      Parameters : int            := 0;
      Types      : System.Address := System.Null_Address) return Result_Handle
     with Import, Convention => C, External_Name => "PQprepare";

   function describePrepared (DB : Connection_Handle; Name : char_array) return Result_Handle
     with Import, Convention => C, External_Name => "PQdescribePrepared";

   function nparams (Result : Result_Handle) return int
     with Import, Convention => C, External_Name => "PQnparams";

   In_Text   : constant := 0;
   In_Binary : constant := 1;

   function execPrepared
     (DB            : Connection_Handle;
      Name          : Strings.chars_ptr;
      Parameters    : int;
      Values        : Value_List;
      Lengths       : System.Address := System.Null_Address;
      Formats       : System.Address := System.Null_Address;
      Result_Format : int) return Result_Handle
     with Import, Convention => C, External_Name => "PQexecPrepared";

   function execParams
     (DB            : Connection_Handle;
      Text          : Strings.chars_ptr;
      Parameters    : int;
      Types         : System.Address;
      Values        : Value_List;
      Lengths       : System.Address := System.Null_Address;
      Formats       : System.Address := System.Null_Address;
      Result_Format : int            := In_Text) return Result_Handle
     with Import, Convention => C, External_Name => "PQexecParams";

   --  Functions that send a statement without waiting for its results, and return 0 on failure.
   --  Afterwards, each result of getResult has one row, except the last result, which has no rows.

   function sendQueryPrepared
     (DB            : Connection_Handle;
      Name          : Strings.chars_ptr;
      Parameters    : int;
      Values        : Value_List;
      Lengths       : System.Address;
      Formats       : System.Address;
      Result_Format : int) return int
     with Import, Convention => C, External_Name => "PQsendQueryPrepared";

   function sendQueryParams
     (DB            : Connection_Handle;
      Text          : Strings.chars_ptr;
      Parameters    : int;
      Types         : System.Address;
      Values        : Value_List;
      Lengths       : System.Address;
      Formats       : System.Address;
      Result_Format : int) return int
     with Import, Convention => C, External_Name => "PQsendQueryParams";

   function setSingleRowMode (DB : Connection_Handle) return int
     with Import, Convention => C, External_Name => "PQsetSingleRowMode";

   function getResult (DB : Connection_Handle) return Result_Handle
     with Import, Convention => C, External_Name => "PQgetResult";

   --  Functions for the pipeline mode, in which a program sends multiple executions before it reads
   --  their results. A sync ends a group of executions. Each function returns 0 on failure.

   function enterPipelineMode (DB : Connection_Handle) return int
     with Import, Convention => C, External_Name => "PQenterPipelineMode";

   function exitPipelineMode (DB : Connection_Handle) return int
     with Import, Convention => C, External_Name => "PQexitPipelineMode";

   function pipelineSync (DB : Connection_Handle) return int
     with Import, Convention => C, External_Name => "PQpipelineSync";

   --  Functions that send rows for COPY FROM STDIN, and return 1 on success. If Failure is not
   --  null, it is the reason for aborting the COPY.

   function putCopyData (DB : Connection_Handle; Bytes : String; Length : int) return int
     with Import, Convention => C, External_Name => "PQputCopyData";

   function putCopyEnd (DB : Connection_Handle; Failure : Strings.chars_ptr) return int
     with Import, Convention => C, External_Name => "PQputCopyEnd";

   --  Functions that read results. Rows and columns are numbered from 0.

   type Result_Status is new int;
   Empty_Query : constant Result_Status := 0;
   Command_OK  : constant Result_Status := 1;
   Tuples_OK   : constant Result_Status := 2;
   Copy_Out    : constant Result_Status := 3;
   Copy_In     : constant Result_Status := 4;
   Single_Row  : constant Result_Status := 9;
   Sync        : constant Result_Status := 10;

   function resultStatus (Result : Result_Handle) return Result_Status
     with Import, Convention => C, External_Name => "PQresultStatus";

   Field_State      : constant := Character'Pos ('C');
   Field_Message    : constant := Character'Pos ('M');
   Field_Detail     : constant := Character'Pos ('D');
   Field_Constraint : constant := Character'Pos ('n');
   Field_Function   : constant := Character'Pos ('R');
   Field_Context    : constant := Character'Pos ('W');

   function resultErrorField (Result : Result_Handle; Field : int) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "PQresultErrorField";

   procedure clear (Result : Result_Handle)
     with Import, Convention => C, External_Name => "PQclear";

   function ntuples (Result : Result_Handle) return int
     with Import, Convention => C, External_Name => "PQntuples";

   function nfields (Result : Result_Handle) return int
     with Import, Convention => C, External_Name => "PQnfields";

   function fname (Result : Result_Handle; Column : int) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "PQfname";

   type Type_Id is new unsigned;
   Type_Bytea   : constant Type_Id := 17;
   Type_Name    : constant Type_Id := 19;
   Type_Int_8   : constant Type_Id := 20;
   Type_Int_2   : constant Type_Id := 21;
   Type_Int_4   : constant Type_Id := 23;
   Type_Text    : constant Type_Id := 25;
   Type_Float_4 : constant Type_Id := 700;
   Type_Float_8 : constant Type_Id := 701;
   Type_Char    : constant Type_Id := 1_042;
   Type_Varchar : constant Type_Id := 1_043;
   --  Type OIDs from the server's pg_type

   function ftype (Result : Result_Handle; Column : int) return Type_Id
     with Import, Convention => C, External_Name => "PQftype";

   function getvalue (Result : Result_Handle; Row, Column : int) return System.Address
     with Import, Convention => C, External_Name => "PQgetvalue";

   function getlength (Result : Result_Handle; Row, Column : int) return int
     with Import, Convention => C, External_Name => "PQgetlength";

   function getisnull (Result : Result_Handle; Row, Column : int) return int
     with Import, Convention => C, External_Name => "PQgetisnull";

   function unescapeBytea (Text : System.Address; Length : out size_t) return System.Address
     with Import, Convention => C, External_Name => "PQunescapeBytea";
   --  Decodes a bytea from its text format. Returns the bytes, which the caller must free with
   --  freemem; null on failure.

   procedure freemem (Memory : System.Address)
     with Import, Convention => C, External_Name => "PQfreemem";
   procedure freemem (Text : Strings.chars_ptr)
     with Import, Convention => C, External_Name => "PQfreemem";

   function cmdStatus (Result : Result_Handle) return System.Address
     with Import, Convention => C, External_Name => "PQcmdStatus";

   function cmdTuples (Result : Result_Handle) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "PQcmdTuples";

   --  The system call poll(2), which waits for a socket while connecting

   type Poll_Descriptor is record
      File     : int;
      Events   : short;
      Returned : short := 0;
   end record with Convention => C;

   Poll_In  : constant := 1;
   Poll_Out : constant := 4;

   function poll
     (Files : in out Poll_Descriptor; Count : unsigned_long; Milliseconds : int) return int
     with Import, Convention => C, External_Name => "poll";

end Appserver.SQL.PostgreSQL_Library;
