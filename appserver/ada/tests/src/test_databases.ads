--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  What the tests that all databases share must know of one.

with Appserver.SQL;

package Test_Databases is

   use Appserver;

   type Text_Reference is not null access constant String;

   function "+" (Text : String) return Text_Reference is (new String'(Text));

   --  States of errors that every database has; whether a text can hold a NUL; what counts the
   --  characters of a text; the types of blobs, and of keys that it makes. A database with a server
   --  has what counts the tests' connections, and the statements that it keeps for them; what tells
   --  a connection's id and, around the id, ends one; the type of long texts; what runs for half a
   --  minute; the environment's variable with its target.

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

   --  Its parameters are for the tests, which see them through it

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
      --  Connects, and drops the tables that tests make
   end Database;

   pragma Warnings (On, "*is not referenced");

end Test_Databases;
