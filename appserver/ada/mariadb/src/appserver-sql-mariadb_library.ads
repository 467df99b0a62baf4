--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Bindings to the functions of libmariadb, MariaDB's C library, that the driver uses:
--  https://mariadb.com/kb/en/mariadb-connector-c/

pragma Ada_2022;

with Interfaces.C.Strings;
with System;

private package Appserver.SQL.MariaDB_Library is

   pragma Linker_Options ("-lmariadb");

   use Interfaces.C;

   type Connection_Handle is new System.Address;
   type Statement_Handle is new System.Address;
   type Result_Handle is new System.Address;

   No_Connection : constant Connection_Handle := Connection_Handle (System.Null_Address);
   No_Statement  : constant Statement_Handle := Statement_Handle (System.Null_Address);
   No_Result     : constant Result_Handle := Result_Handle (System.Null_Address);

   subtype my_bool is signed_char;

   type Error_Number is new unsigned;
   OK : constant Error_Number := 0;

   --  Server errors: https://mariadb.com/kb/en/mariadb-error-codes/
   Access_Denied     : constant Error_Number := 1_045;
   Unknown_Statement : constant Error_Number := 1_243;
   Interrupted       : constant Error_Number := 1_317;
   Needs_Preparing   : constant Error_Number := 1_615;
   Connection_Killed : constant Error_Number := 1_927;
   Statement_Timeout : constant Error_Number := 1_969;
   --  Errors of the library (errmsg.h)
   Socket_Failed     : constant Error_Number := 2_002;
   Host_Failed       : constant Error_Number := 2_003;
   Unknown_Host      : constant Error_Number := 2_005;
   Server_Gone       : constant Error_Number := 2_006;
   Server_Lost       : constant Error_Number := 2_013;
   TLS_Failed        : constant Error_Number := 2_026;
   Columns_Changed   : constant Error_Number := 2_057;

   function server_init
     (Count : int; Arguments, Groups : System.Address := System.Null_Address) return int
     with Import, Convention => C, External_Name => "mysql_server_init";

   function get_client_info return Strings.chars_ptr
     with Import, Convention => C, External_Name => "mysql_get_client_info";

   --  Functions for connections

   function init (DB : Connection_Handle) return Connection_Handle
     with Import, Convention => C, External_Name => "mysql_init";
   --  Initializes a handle. Creates a new handle if the argument is No_Connection.

   Option_Connect_Timeout : constant := 0;
   Option_Charset_Name    : constant := 7;
   Option_Local_Infile    : constant := 8;
   Option_Read_Timeout    : constant := 11;
   Option_Write_Timeout   : constant := 12;
   Option_TLS_Verify      : constant := 21;
   Option_TLS_Authority   : constant := 27;
   Option_TLS_Enforce     : constant := 38;

   function options
     (DB : Connection_Handle; Option : int; Value : System.Address) return int
     with Import, Convention => C, External_Name => "mysql_options";

   Client_Found_Rows : constant := 2;

   function real_connect
     (DB                             : Connection_Handle;
      Host, User, Password, Database : Strings.chars_ptr;
      Port                           : unsigned;
      Socket                         : Strings.chars_ptr;
      Flags                          : unsigned_long) return Connection_Handle
     with Import, Convention => C, External_Name => "mysql_real_connect";

   No_Socket : constant := -1;

   function get_socket (DB : Connection_Handle) return int
     with Import, Convention => C, External_Name => "mysql_get_socket";

   function get_ssl_cipher (DB : Connection_Handle) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "mysql_get_ssl_cipher";
   --  Returns the cipher of the connection; null if the connection is not encrypted

   procedure close (DB : Connection_Handle)
     with Import, Convention => C, External_Name => "mysql_close";

   function reset_connection (DB : Connection_Handle) return int
     with Import, Convention => C, External_Name => "mysql_reset_connection";

   function select_db (DB : Connection_Handle; Name : char_array) return int
     with Import, Convention => C, External_Name => "mysql_select_db";

   function thread_id (DB : Connection_Handle) return unsigned_long
     with Import, Convention => C, External_Name => "mysql_thread_id";

   Info_Server_Status   : constant := 30;
   In_Transaction       : constant := 1;
   Autocommit           : constant := 2;
   More_Results         : constant := 8;
   No_Backslash_Escapes : constant := 512;
   Session_Changed      : constant := 16_384;
   ANSI_Quotes          : constant := 32_768;

   function get_info
     (DB : Connection_Handle; Value : int; Result : out unsigned) return my_bool
     with Import, Convention => C, External_Name => "mariadb_get_info";

   Info_Server_Capabilities : constant := 31;
   Has_TLS                  : constant := 2_048;

   function get_info
     (DB : Connection_Handle; Value : int; Result : out unsigned_long) return my_bool
     with Import, Convention => C, External_Name => "mariadb_get_info";

   Track_Variables : constant := 0;

   function session_track_get_first
     (DB : Connection_Handle; Kind : int; Text : out System.Address; Length : out size_t)
      return int
     with Import, Convention => C, External_Name => "mysql_session_track_get_first";
   function session_track_get_next
     (DB : Connection_Handle; Kind : int; Text : out System.Address; Length : out size_t)
      return int
     with Import, Convention => C, External_Name => "mysql_session_track_get_next";
   --  Return the names and the values of the variables that the latest statement set, one per call.
   --  The result is 0 if Text and Length are set.

   function errno (DB : Connection_Handle) return Error_Number
     with Import, Convention => C, External_Name => "mysql_errno";

   function sqlstate (DB : Connection_Handle) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "mysql_sqlstate";

   function error (DB : Connection_Handle) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "mysql_error";

   --  Functions of the text protocol, in which a value is a text in bytes, or null

   function real_query
     (DB : Connection_Handle; Text : System.Address; Bytes : unsigned_long) return int
     with Import, Convention => C, External_Name => "mysql_real_query";

   function field_count (DB : Connection_Handle) return unsigned
     with Import, Convention => C, External_Name => "mysql_field_count";

   function affected_rows (DB : Connection_Handle) return Integer_64
     with Import, Convention => C, External_Name => "mysql_affected_rows";

   function insert_id (DB : Connection_Handle) return Integer_64
     with Import, Convention => C, External_Name => "mysql_insert_id";

   function store_result (DB : Connection_Handle) return Result_Handle
     with Import, Convention => C, External_Name => "mysql_store_result";

   function use_result (DB : Connection_Handle) return Result_Handle
     with Import, Convention => C, External_Name => "mysql_use_result";
   --  Begins to read the rows of the current result from the server, one row at a time

   function next_result (DB : Connection_Handle) return int
     with Import, Convention => C, External_Name => "mysql_next_result";
   --  Moves to the next result. Returns 0 if there is another result, -1 if there is none, and a
   --  positive number after an error.

   Multi_Statements_On  : constant := 0;
   Multi_Statements_Off : constant := 1;

   function set_server_option (DB : Connection_Handle; Option : int) return int
     with Import, Convention => C, External_Name => "mysql_set_server_option";

   procedure free_result (Result : Result_Handle)
     with Import, Convention => C, External_Name => "mysql_free_result";

   function num_rows (Result : Result_Handle) return Integer_64
     with Import, Convention => C, External_Name => "mysql_num_rows";
   --  Returns the number of rows of a result that has been received completely

   function fetch_row (Result : Result_Handle) return System.Address
     with Import, Convention => C, External_Name => "mysql_fetch_row";

   function fetch_lengths (Result : Result_Handle) return System.Address
     with Import, Convention => C, External_Name => "mysql_fetch_lengths";

   --  Functions for the columns of a result

   type Type_Code is new int;
   Type_Tiny      : constant Type_Code := 1;
   Type_Short     : constant Type_Code := 2;
   Type_Long      : constant Type_Code := 3;
   Type_Float     : constant Type_Code := 4;
   Type_Double    : constant Type_Code := 5;
   Type_Null      : constant Type_Code := 6;
   Type_Timestamp : constant Type_Code := 7;
   Type_Long_Long : constant Type_Code := 8;
   Type_Int_24    : constant Type_Code := 9;
   Type_Date      : constant Type_Code := 10;
   Type_Date_Time : constant Type_Code := 12;
   Type_Year      : constant Type_Code := 13;
   Type_Decimal   : constant Type_Code := 246;
   Type_Blob      : constant Type_Code := 252;
   Type_String    : constant Type_Code := 254;

   Flag_Unsigned : constant := 32;

   type Field is record
      Name, Original_Name, Table, Original_Table : Strings.chars_ptr;
      Database, Catalog, Default                 : Strings.chars_ptr;
      Length, Max_Length                         : unsigned_long;
      Name_Length, Original_Name_Length          : unsigned;
      Table_Length, Original_Table_Length        : unsigned;
      Database_Length, Catalog_Length            : unsigned;
      Default_Length                             : unsigned;
      Flags                                      : unsigned;
      Decimals                                   : unsigned;
      Charset                                    : unsigned;
      Kind                                       : Type_Code;
      Extension                                  : System.Address;
   end record with Convention => C;

   function num_fields (Result : Result_Handle) return unsigned
     with Import, Convention => C, External_Name => "mysql_num_fields";

   function fetch_fields (Result : Result_Handle) return System.Address
     with Import, Convention => C, External_Name => "mysql_fetch_fields";
   --  Returns the columns of a result, as an array of Field

   --  Functions of prepared statements, whose values are in bound buffers

   type Date_Time is record
      Year, Month, Day     : unsigned := 0;
      Hour, Minute, Second : unsigned := 0;
      Microsecond          : unsigned_long := 0;
      Negative             : my_bool := 0;
      Kind                 : int := 1;
   end record with Convention => C;

   type Binding is record
      Length        : System.Address := System.Null_Address;
      Is_Null       : System.Address := System.Null_Address;
      Buffer        : System.Address := System.Null_Address;
      Error         : System.Address := System.Null_Address;
      Row           : System.Address := System.Null_Address;
      Store         : System.Address := System.Null_Address;
      Fetch         : System.Address := System.Null_Address;
      Skip          : System.Address := System.Null_Address;
      Buffer_Length : unsigned_long  := 0;
      Offset        : unsigned_long  := 0;
      Length_Value  : unsigned_long  := 0;
      Flags         : unsigned       := 0;
      Pack_Length   : unsigned       := 0;
      Kind          : Type_Code      := Type_Null;
      Error_Value   : my_bool        := 0;
      Is_Unsigned   : my_bool        := 0;
      Long_Data     : my_bool        := 0;
      Null_Value    : my_bool        := 0;
      Extension     : System.Address := System.Null_Address;
   end record with Convention => C;

   type Binding_List is array (Positive range <>) of aliased Binding with Convention => C;

   function stmt_init (DB : Connection_Handle) return Statement_Handle
     with Import, Convention => C, External_Name => "mysql_stmt_init";

   function stmt_close (Statement : Statement_Handle) return my_bool
     with Import, Convention => C, External_Name => "mysql_stmt_close";

   function stmt_prepare
     (Statement : Statement_Handle; Text : System.Address; Bytes : unsigned_long) return int
     with Import, Convention => C, External_Name => "mysql_stmt_prepare";

   function stmt_param_count (Statement : Statement_Handle) return unsigned_long
     with Import, Convention => C, External_Name => "mysql_stmt_param_count";

   function stmt_bind_param
     (Statement : Statement_Handle; Bindings : Binding_List) return my_bool
     with Import, Convention => C, External_Name => "mysql_stmt_bind_param";

   function stmt_execute (Statement : Statement_Handle) return int
     with Import, Convention => C, External_Name => "mysql_stmt_execute";

   function stmt_result_metadata (Statement : Statement_Handle) return Result_Handle
     with Import, Convention => C, External_Name => "mysql_stmt_result_metadata";
   --  Returns the columns of the statement's result; No_Result if the statement returns no rows

   function stmt_bind_result
     (Statement : Statement_Handle; Bindings : Binding_List) return my_bool
     with Import, Convention => C, External_Name => "mysql_stmt_bind_result";

   function stmt_store_result (Statement : Statement_Handle) return int
     with Import, Convention => C, External_Name => "mysql_stmt_store_result";

   No_Data        : constant := 100;
   Data_Truncated : constant := 101;

   function stmt_fetch (Statement : Statement_Handle) return int
     with Import, Convention => C, External_Name => "mysql_stmt_fetch";

   function stmt_fetch_column
     (Statement : Statement_Handle;
      Into      : in out Binding;
      Column    : unsigned;
      Offset    : unsigned_long) return int
     with Import, Convention => C, External_Name => "mysql_stmt_fetch_column";

   function stmt_free_result (Statement : Statement_Handle) return my_bool
     with Import, Convention => C, External_Name => "mysql_stmt_free_result";

   function stmt_affected_rows (Statement : Statement_Handle) return Integer_64
     with Import, Convention => C, External_Name => "mysql_stmt_affected_rows";

   function stmt_num_rows (Statement : Statement_Handle) return Integer_64
     with Import, Convention => C, External_Name => "mysql_stmt_num_rows";

   function stmt_errno (Statement : Statement_Handle) return Error_Number
     with Import, Convention => C, External_Name => "mysql_stmt_errno";

   function stmt_sqlstate (Statement : Statement_Handle) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "mysql_stmt_sqlstate";

   function stmt_error (Statement : Statement_Handle) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "mysql_stmt_error";

end Appserver.SQL.MariaDB_Library;
