--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Where the keys of calls that were committed are kept, with their results: a table of the
--  database that the calls change.
--
--     CREATE TABLE retry_key (id varchar(255) PRIMARY KEY, result text,
--                             created timestamp DEFAULT CURRENT_TIMESTAMP)
--
--  Two keys must be the same only if they are equal, which in MariaDB needs id to be varchar(255)
--  CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin. Rows older than the longest time after which a
--  call is made again can be deleted.

pragma Ada_2022;

package Appserver.Retry.Key_Tables is

   pragma Assertion_Policy (Pre => Check);

   --  For Transactions: steps of a transaction that is open on DB

   procedure Find
     (Table  : String;
      DB     : in out SQL.Connection'Class;
      Id     : SQL.UTF_8_String;
      Read   : not null access procedure (Result : SQL.UTF_8_String);
      Is_Old : out Boolean)
     with Pre => SQL.Can_Use (DB);
   --  Whether the call was committed before; then Read gets its result, or "" if it has none

   procedure Take
     (Table : String; DB : in out SQL.Connection'Class; Id : SQL.UTF_8_String)
     with Pre => SQL.Can_Use (DB);
   --  Puts the key there. Another transaction that does so waits for the end of this one.
   --  Key_Taken_Error if another one has.

   procedure Keep
     (Table  : String;
      DB     : in out SQL.Connection'Class;
      Id     : SQL.UTF_8_String;
      Result : SQL.UTF_8_String)
     with Pre => SQL.Can_Use (DB);

end Appserver.Retry.Key_Tables;
