<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Site\Blog;

/** A small markup: headings, lists, paragraphs; strong, code, links. */
final class Markup
{
    public function html(string $text): string
    {
        $blocks = preg_split('/\n{2,}/', trim($text));
        return implode("\n", array_map($this->block(...), $blocks));
    }

    private function block(string $block): string
    {
        if (str_starts_with($block, '## ')) {
            return '<h2>' . $this->inline(substr($block, 3)) . '</h2>';
        }
        if (str_starts_with($block, '- ')) {
            $items = explode("\n", $block);
            $items = array_map(fn (string $item): string => '<li>' . $this->inline(substr($item, 2)) . '</li>', $items);
            return '<ul>' . implode('', $items) . '</ul>';
        }
        return '<p>' . $this->inline($block) . '</p>';
    }

    private function inline(string $text): string
    {
        $text = htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8');
        return preg_replace(
            ['/\*\*(.+?)\*\*/', '/`(.+?)`/', '/\[([^\]]+)\]\(([^)]+)\)/'],
            ['<strong>$1</strong>', '<code>$1</code>', '<a href="$2">$1</a>'],
            $text,
        );
    }
}
