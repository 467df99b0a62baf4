--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  IP addresses and address blocks (CIDR, RFC 4632), without heap memory.

pragma Ada_2022;

with Interfaces;

package Appserver.IP_Addresses with Preelaborate is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Address is private;
   --  An IPv4 or IPv6 address. "::ffff:192.0.2.1" is treated as the IPv4 address 192.0.2.1 (RFC
   --  4291, 2.5.5.2).

   No_Address : constant Address;
   --  The unspecified address "::"

   Address_Error : exception;
   --  The text is not a valid address, or not a valid block of addresses

   function Is_Address (Text : String) return Boolean;
   --  Checks an address such as "192.0.2.1" or "2001:db8::1" (RFC 4291, 2.2), without a port or a
   --  zone.
   --  @param Text the text
   --  @return True if the text is a valid address

   function Value (Text : String) return Address;
   --  Parses an address.
   --  @param Text the text
   --  @return the address
   --  @exception Address_Error the text is not a valid address

   function Image (Self : Address) return String;
   --  Formats an address as its canonical text (RFC 5952).
   --  @param Self the address
   --  @return the text, in lower case, with "::" in place of the longest run of zeros

   function Is_IPv4 (Self : Address) return Boolean;
   --  @param Self the address
   --  @return True if it is an IPv4 address

   type Octets is array (Positive range <>) of Interfaces.Unsigned_8;

   function From_Octets (Bytes : Octets) return Address
     with Pre => Bytes'Length in 4 | 16
                 or else raise Misuse_Error with "an address must have 4 or 16 bytes";
   --  Creates an address from its bytes.
   --  @param Bytes the bytes in network order
   --  @return the address

   ------------
   -- Blocks --
   ------------

   type Address_Block is private;

   function Block (Text : String) return Address_Block;
   --  Parses a block such as "10.0.0.0/8" or "2001:db8::/32", or a single address. Bits after the
   --  prefix are ignored.
   --  @param Text the text
   --  @return the block
   --  @exception Address_Error the text is not a valid block

   function Contains (Self : Address_Block; Item : Address) return Boolean;
   --  Checks whether a block contains an address. IPv6 blocks do not contain IPv4 addresses.
   --  @param Self the block
   --  @param Item the address
   --  @return True if the block contains the address

   type Block_List is array (Positive range <>) of Address_Block;

   function Contains (Self : Block_List; Item : Address) return Boolean is
     (for some Each of Self => Contains (Each, Item));
   --  Checks whether any of a list of blocks contains an address.
   --  @param Self the blocks
   --  @param Item the address
   --  @return True if one of the blocks contains the address

private

   use type Interfaces.Unsigned_8;

   type Address is record
      Bytes : Octets (1 .. 16) := [others => 0];
   end record;
   --  An IPv4 address is stored with the prefix ::ffff:0:0/96

   No_Address : constant Address := (others => <>);

   IPv4_Prefix : constant Octets (1 .. 12) := [1 .. 10 => 0, 11 .. 12 => 16#FF#];

   type Address_Block is record
      First : Address;
      Bits  : Natural range 0 .. 128 := 128;
   end record;

   function Is_IPv4 (Self : Address) return Boolean is (Self.Bytes (1 .. 12) = IPv4_Prefix);

   function From_Octets (Bytes : Octets) return Address is
     (if Bytes'Length = 4 then (Bytes => IPv4_Prefix & Bytes) else (Bytes => Bytes));

end Appserver.IP_Addresses;
