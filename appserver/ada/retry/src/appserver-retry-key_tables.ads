--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A table for the keys of committed calls and their results, in the database that the calls
--  change.
--
--     CREATE TABLE retry_key (id varchar(255) PRIMARY KEY, result text, request varchar(64),
--                             created timestamp DEFAULT CURRENT_TIMESTAMP)
--
--  Two keys must be the same only if they are equal, which in MariaDB needs id to be varchar(255)
--  CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin, and a strict sql_mode, the default, which does
--  not truncate them. Column request is for calls that name their request, created for
--  Delete_Older, which an index on it makes fast. In PostgreSQL the type of created must be
--  timestamptz: a timestamp there is in the zone of the session that wrote it, and a session of
--  another zone, such as one of Java, would delete keys hours early.

pragma Ada_2022;

package Appserver.Retry.Key_Tables is

   pragma Assertion_Policy (Pre => Check);

   --  For Transactions: steps of a transaction that is open on DB

   procedure Take
     (Table  : String;
      DB     : in out SQL.Connection'Class;
      Id     : SQL.UTF_8_String;
      Is_New : out Boolean;
      Print  : SQL.UTF_8_String := "")
     with Pre => SQL.Can_Use (DB);
   --  Inserts the key, with the Fingerprint of its request unless that is "". Is_New is False if
   --  the table has it already. If another open transaction has inserted it, servers wait for the
   --  end of that transaction; SQLite waits for the end of any writer, up to its busy timeout.

   function Result_Of
     (Table : String;
      DB    : in out SQL.Connection'Class;
      Id    : SQL.UTF_8_String;
      Print : SQL.UTF_8_String := "") return SQL.UTF_8_String
     with Pre => SQL.Can_Use (DB);
   --  The result of a key in the table; "" if it has no result. Key_Taken_Error if this
   --  transaction cannot see the key: its snapshot is older, or the row was deleted.
   --  Key_Reused_Error if it is there with another fingerprint.

   function Fingerprint (Request : SQL.UTF_8_String) return SQL.UTF_8_String;
   --  The SHA-256 of Request as 64 hexadecimal digits, as in the Java library; "" for ""

   procedure Keep
     (Table  : String;
      DB     : in out SQL.Connection'Class;
      Id     : SQL.UTF_8_String;
      Result : SQL.UTF_8_String)
     with Pre => SQL.Can_Use (DB);

   subtype Age is Duration range 1.0 .. 1.0E9;

   procedure Delete_Older
     (Table    : String;
      DB       : in out SQL.Connection'Class;
      Than     : Age;
      Deleted  : out SQL.Integer_64;
      Max_Rows : Positive := 1_000)
     with Pre => SQL.Can_Use (DB);
   --  Deletes up to Max_Rows keys that are older than Than, in whole seconds by the database's
   --  clock. Call it from time to time, and repeat it until Deleted is less than Max_Rows. A call
   --  that is repeated after its key was deleted takes effect again. Outside a transaction, the
   --  deletion is a transaction of its own.

end Appserver.Retry.Key_Tables;
