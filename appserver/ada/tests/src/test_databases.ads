--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The properties of a database that the tests for all databases use.

with Appserver.SQL;

package Test_Databases is

   use Appserver;

   type Text_Reference is not null access constant String;

   function "+" (Text : String) return Text_Reference is (new String'(Text));

   --  The properties of a database: the SQLSTATEs of common errors, whether a text can contain a
   --  NUL, the name of the function that counts the characters of a text, and the types of blobs
   --  and of generated keys. A database server has more properties: the queries that count the
   --  tests' connections and their prepared statements, the query for a connection's ID, the text
   --  before and after this ID in the statement that ends a connection, the type of long texts, a
   --  statement that runs for half a minute, and the environment variable that contains the target.

   type Traits is record
      Name       : Text_Reference;
      Duplicate  : SQL.SQL_State;
      Null_Key   : SQL.SQL_State;
      No_Table   : SQL.SQL_State;
      No_Column  : SQL.SQL_State;
      Syntax     : SQL.SQL_State;
      Holds_NUL  : Boolean;
      Length     : Text_Reference;
      Blob       : Text_Reference;
      Serial     : Text_Reference;
      Sessions   : Text_Reference := +"";
      Prepared   : Text_Reference := +"";
      Id         : Text_Reference := +"";
      Kill       : Text_Reference := +"";
      After_Kill : Text_Reference := +"";
      Long_Text  : Text_Reference := +"";
      Slow       : Text_Reference := +"";
      Variable   : Text_Reference := +"";
   end record;

   --  Only the tests use some of the generic parameters

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
