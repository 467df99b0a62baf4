--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The properties of a database that the tests for all databases use.

with Appserver.SQL;

package Test_Databases is

   use Appserver;

   type Text_Reference is not null access constant String;

   function "+" (Text : String) return Text_Reference is (new String'(Text));

   --  The properties of a database. Only database servers have the properties with a default.

   type Traits is record
      Name       : Text_Reference;
      Duplicate  : SQL.SQL_State;
      --  The SQLSTATE of a duplicate key
      Null_Key   : SQL.SQL_State;
      --  The SQLSTATE of a null in a column that does not permit nulls
      No_Table   : SQL.SQL_State;
      --  The SQLSTATE of a table that does not exist
      No_Column  : SQL.SQL_State;
      --  The SQLSTATE of a column that does not exist
      Syntax     : SQL.SQL_State;
      --  The SQLSTATE of a syntax error
      Holds_NUL  : Boolean;
      --  True if a text can contain a NUL
      Length     : Text_Reference;
      --  The name of the function that counts the characters of a text
      Blob       : Text_Reference;
      --  The type of blobs
      Serial     : Text_Reference;
      --  The type of generated keys
      Sessions   : Text_Reference := +"";
      --  The query that counts the tests' connections
      Prepared   : Text_Reference := +"";
      --  The query that counts the prepared statements of a connection
      Id         : Text_Reference := +"";
      --  The query for a connection's ID
      Kill       : Text_Reference := +"";
      --  The text before the ID in the statement that ends a connection
      After_Kill : Text_Reference := +"";
      --  The text after the ID in the statement that ends a connection
      Long_Text  : Text_Reference := +"";
      --  The type of long texts
      Slow       : Text_Reference := +"";
      --  A statement that runs for at least half a minute
      Variable   : Text_Reference := +"";
      --  The environment variable that contains the target
   end record;

   --  The package does not refer to some of the generic parameters; only the tests use them

   pragma Warnings (Off, "*is not referenced");

   generic
      Dialect : Traits;

      type Connection is limited new SQL.Connection with private;
      type Statement is limited new SQL.Statement with private;

      with procedure Connect (DB : in out Connection);
      with procedure Connect_As_Stranger (DB : in out Connection);
      with procedure Connect_Nowhere (DB : in out Connection);
      with procedure Prepare
        (Self : in out Statement; On : in out Connection; Text : String);
      with procedure Prepare_Client_Side
        (Self : in out Statement; On : in out Connection; Text : String);
   package Database is
      procedure Open (DB : in out Connection);
      --  Connects, and drops the tables that tests create
   end Database;

   pragma Warnings (On, "*is not referenced");

end Test_Databases;
