--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Bindings to the functions of SQLite's C interface that the driver uses:
--  https://sqlite.org/c3ref/intro.html

pragma Ada_2022;

with Interfaces.C.Strings;
with System.Storage_Elements;

private package Appserver.SQL.SQLite_Library is

   pragma Linker_Options ("-lsqlite3");

   use Interfaces.C;

   type Database_Handle is new System.Address;
   type Statement_Handle is new System.Address;
   type Value_Handle is new System.Address;

   No_Database  : constant Database_Handle := Database_Handle (System.Null_Address);
   No_Statement : constant Statement_Handle := Statement_Handle (System.Null_Address);
   No_Value     : constant Value_Handle := Value_Handle (System.Null_Address);

   type Result_Code is new int;
   --  A result code, whose low 8 bits are the primary code: https://sqlite.org/rescode.html

   OK   : constant Result_Code := 0;
   Row  : constant Result_Code := 100;
   Done : constant Result_Code := 101;

   Open_Read_Only  : constant := 1;
   Open_Read_Write : constant := 2;
   Open_Create     : constant := 4;

   type Type_Code is new int;
   Integer_Type : constant Type_Code := 1;
   Float_Type   : constant Type_Code := 2;
   Null_Type    : constant Type_Code := 5;

   Transient : constant System.Address :=
     System.Storage_Elements.To_Address (System.Storage_Elements.Integer_Address'Last);
   --  SQLITE_TRANSIENT, ((void *) -1), which makes SQLite copy the bound value

   function libversion return Strings.chars_ptr
     with Import, Convention => C, External_Name => "sqlite3_libversion";

   --  Functions for connections

   function open_v2
     (Name  : char_array;
      DB    : out Database_Handle;
      Flags : int;
      VFS   : System.Address := System.Null_Address) return Result_Code
     with Import, Convention => C, External_Name => "sqlite3_open_v2";

   function close_v2 (DB : Database_Handle) return Result_Code
     with Import, Convention => C, External_Name => "sqlite3_close_v2";

   function extended_errcode (DB : Database_Handle) return Result_Code
     with Import, Convention => C, External_Name => "sqlite3_extended_errcode";

   function errmsg (DB : Database_Handle) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "sqlite3_errmsg";

   function busy_timeout (DB : Database_Handle; Milliseconds : int) return Result_Code
     with Import, Convention => C, External_Name => "sqlite3_busy_timeout";

   function get_autocommit (DB : Database_Handle) return int
     with Import, Convention => C, External_Name => "sqlite3_get_autocommit";

   function threadsafe return int
     with Import, Convention => C, External_Name => "sqlite3_threadsafe";

   function db_mutex (DB : Database_Handle) return System.Address
     with Import, Convention => C, External_Name => "sqlite3_db_mutex";

   function changes64 (DB : Database_Handle) return Integer_64
     with Import, Convention => C, External_Name => "sqlite3_changes64";

   function last_insert_rowid (DB : Database_Handle) return Integer_64
     with Import, Convention => C, External_Name => "sqlite3_last_insert_rowid";

   type Progress_Callback is access function (Argument : System.Address) return int
     with Convention => C;

   procedure progress_handler
     (DB           : Database_Handle;
      Instructions : int;
      Callback     : Progress_Callback;
      Argument     : System.Address)
     with Import, Convention => C, External_Name => "sqlite3_progress_handler";
   --  Sets a callback, which SQLite calls each time that its virtual machine has executed
   --  Instructions instructions. A nonzero result of the callback interrupts the statement.

   procedure interrupt (DB : Database_Handle)
     with Import, Convention => C, External_Name => "sqlite3_interrupt";

   --  Functions for statements

   function prepare_v2
     (DB        : Database_Handle;
      Text      : System.Address;
      Bytes     : int;
      Statement : out Statement_Handle;
      Tail      : out System.Address) return Result_Code
     with Import, Convention => C, External_Name => "sqlite3_prepare_v2";

   function stmt_readonly (Statement : Statement_Handle) return int
     with Import, Convention => C, External_Name => "sqlite3_stmt_readonly";

   function bind_parameter_count (Statement : Statement_Handle) return int
     with Import, Convention => C, External_Name => "sqlite3_bind_parameter_count";

   function bind_int64
     (Statement : Statement_Handle; Parameter : int; Value : Integer_64) return Result_Code
     with Import, Convention => C, External_Name => "sqlite3_bind_int64";

   function bind_double
     (Statement : Statement_Handle; Parameter : int; Value : Long_Float) return Result_Code
     with Import, Convention => C, External_Name => "sqlite3_bind_double";

   function bind_text
     (Statement : Statement_Handle;
      Parameter : int;
      Value     : System.Address;
      Bytes     : int;
      Release   : System.Address) return Result_Code
     with Import, Convention => C, External_Name => "sqlite3_bind_text";

   function bind_blob
     (Statement : Statement_Handle;
      Parameter : int;
      Value     : System.Address;
      Bytes     : int;
      Release   : System.Address) return Result_Code
     with Import, Convention => C, External_Name => "sqlite3_bind_blob";

   function bind_null (Statement : Statement_Handle; Parameter : int) return Result_Code
     with Import, Convention => C, External_Name => "sqlite3_bind_null";

   function clear_bindings (Statement : Statement_Handle) return Result_Code
     with Import, Convention => C, External_Name => "sqlite3_clear_bindings";

   function step (Statement : Statement_Handle) return Result_Code
     with Import, Convention => C, External_Name => "sqlite3_step";

   function reset (Statement : Statement_Handle) return Result_Code
     with Import, Convention => C, External_Name => "sqlite3_reset";

   function finalize (Statement : Statement_Handle) return Result_Code
     with Import, Convention => C, External_Name => "sqlite3_finalize";

   --  Functions that read the current row. Columns are numbered from 0.

   function data_count (Statement : Statement_Handle) return int
     with Import, Convention => C, External_Name => "sqlite3_data_count";

   function column_type (Statement : Statement_Handle; Column : int) return Type_Code
     with Import, Convention => C, External_Name => "sqlite3_column_type";

   function column_int64 (Statement : Statement_Handle; Column : int) return Integer_64
     with Import, Convention => C, External_Name => "sqlite3_column_int64";

   function column_double (Statement : Statement_Handle; Column : int) return Long_Float
     with Import, Convention => C, External_Name => "sqlite3_column_double";

   function column_text (Statement : Statement_Handle; Column : int) return System.Address
     with Import, Convention => C, External_Name => "sqlite3_column_text";

   function column_blob (Statement : Statement_Handle; Column : int) return System.Address
     with Import, Convention => C, External_Name => "sqlite3_column_blob";

   function column_bytes (Statement : Statement_Handle; Column : int) return int
     with Import, Convention => C, External_Name => "sqlite3_column_bytes";

   function column_name (Statement : Statement_Handle; Column : int) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "sqlite3_column_name";

   function column_value (Statement : Statement_Handle; Column : int) return Value_Handle
     with Import, Convention => C, External_Name => "sqlite3_column_value";

   --  Functions for copies of values

   function value_dup (Value : Value_Handle) return Value_Handle
     with Import, Convention => C, External_Name => "sqlite3_value_dup";

   procedure value_free (Value : Value_Handle)
     with Import, Convention => C, External_Name => "sqlite3_value_free";

   function value_type (Value : Value_Handle) return Type_Code
     with Import, Convention => C, External_Name => "sqlite3_value_type";

   function value_int64 (Value : Value_Handle) return Integer_64
     with Import, Convention => C, External_Name => "sqlite3_value_int64";

   function value_double (Value : Value_Handle) return Long_Float
     with Import, Convention => C, External_Name => "sqlite3_value_double";

   function value_text (Value : Value_Handle) return System.Address
     with Import, Convention => C, External_Name => "sqlite3_value_text";

   function value_blob (Value : Value_Handle) return System.Address
     with Import, Convention => C, External_Name => "sqlite3_value_blob";

   function value_bytes (Value : Value_Handle) return int
     with Import, Convention => C, External_Name => "sqlite3_value_bytes";

end Appserver.SQL.SQLite_Library;
